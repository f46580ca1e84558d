"""What the tests compare of two memory snapshots: ours, and the one that PyTorch wrote itself."""

BLOCK_ACTIONS = ("alloc", "free_requested")
SEGMENT_ACTIONS = ("segment_alloc", "segment_free", "segment_map", "segment_unmap")


def block_events(trace):
    return [event for event in trace if event["action"] in BLOCK_ACTIONS]


def block_order(trace):
    return [(event["action"], event["addr"]) for event in block_events(trace)]


def interleaved_events(trace):
    """Blocks, segments and OOMs in one order. PyTorch names a range that it mapped once, the driver maps it
    piece by piece: pieces that follow each other in time and in address are one event here."""
    merged = []
    for event in trace:
        action = event["action"]
        if action in ("segment_map", "segment_unmap") and merged and merged[-1]["action"] == action:
            previous = merged[-1]
            if previous["addr"] + previous["size"] == event["addr"]:
                merged[-1] = previous | {"size": previous["size"] + event["size"]}
                continue
        if action in BLOCK_ACTIONS + SEGMENT_ACTIONS + ("oom",):
            merged.append(event)
    return merged


def interleaved(trace):
    return [(event["action"], event.get("addr"), event["size"]) for event in interleaved_events(trace)]


def final_segments(snapshot, device):
    """[(address, size, [(block address, size, requested size, state)])] in address order."""
    segments = []
    for segment in snapshot["segments"]:
        if segment["device"] != device:
            continue
        blocks, address = [], segment["address"]
        for block in segment["blocks"]:
            # PyTorch leaves the last request in a block that is free.
            requested = block["requested_size"] if block["state"] != "inactive" else None
            blocks.append((address, block["size"], requested, block["state"]))
            address += block["size"]
        segments.append((segment["address"], segment["total_size"], blocks))
    return sorted(segments)


def python_frames(event):
    """[(file, line, function)], innermost first, without native frames."""
    return [
        (frame["filename"], frame["line"], frame["name"])
        for frame in event.get("frames", ())
        if frame["filename"].endswith(".py") or frame["filename"].startswith("<")
    ]
