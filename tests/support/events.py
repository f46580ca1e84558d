"""What the tests compare of two memory snapshots: ours, and the one that PyTorch wrote itself."""

BLOCK_ACTIONS = ("alloc", "free_requested")
SEGMENT_ACTIONS = ("segment_alloc", "segment_free", "segment_map", "segment_unmap")
ROUNDING_BYTES = 512  # PyTorch's allocator hands out multiples of this
LARGEST_REMAINDER_BYTES = 20 << 20  # it leaves at most this much of an unsplit block unused


def block_events(trace):
    return [event for event in trace if event["action"] in BLOCK_ACTIONS]


def block_order(trace):
    return [(event["action"], event["addr"]) for event in block_events(trace)]


def allocated_sizes(trace):
    return [event["size"] for event in trace if event["action"] == "alloc"]


def rounded(size):
    return max(ROUNDING_BYTES, -(-size // ROUNDING_BYTES) * ROUNDING_BYTES)


def is_block_size(size, requested):
    """Whether a request may have got a block of this size: rounded up, or left unsplit."""
    return rounded(requested) <= size <= rounded(requested) + LARGEST_REMAINDER_BYTES and size % ROUNDING_BYTES == 0


def interleaved(trace):
    """Blocks and segments in one order. PyTorch names a range that it mapped once, the driver maps it
    piece by piece: pieces that follow each other in time and in address are one."""
    entries = []
    for event in trace:
        action, address, size = event["action"], event.get("addr"), event["size"]
        if action in BLOCK_ACTIONS:
            entries.append((action, address))
        elif action in SEGMENT_ACTIONS:
            previous = entries[-1] if entries else None
            if action in ("segment_map", "segment_unmap") and previous and previous[0] == action:
                if previous[1] + previous[2] == address:
                    entries[-1] = (action, previous[1], previous[2] + size)
                    continue
            entries.append((action, address, size))
        elif action == "oom":
            entries.append((action, size))
    return entries


def final_segments(snapshot, device):
    """[(address, size, [(block address, size, state)])] in address order."""
    segments = []
    for segment in snapshot["segments"]:
        if segment["device"] != device:
            continue
        blocks, address = [], segment["address"]
        for block in segment["blocks"]:
            blocks.append((address, block["size"], block["state"]))
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
