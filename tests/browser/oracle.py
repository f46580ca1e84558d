"""What the viewer must draw for a snapshot, worked out without the viewer."""

ALLOCATED = ("active_allocated", "active_pending_free")
CLOSING = ("free", "free_completed")


def initially_live(snapshot, device):
    """(count, bytes) of the blocks that were alive before the trace: freed without an allocation in it, or
    alive at the end without one."""
    open_addresses, sizes = set(), []
    for event in snapshot["device_traces"][device]:
        if event["action"] == "alloc":
            open_addresses.add(event["addr"])
        elif event["action"] in CLOSING:
            if event["addr"] in open_addresses:
                open_addresses.discard(event["addr"])
            else:
                sizes.append(event["size"])
    for segment in segments_of(snapshot, device):
        address = segment["address"]
        for block in segment["blocks"]:
            if block["state"] == "active_allocated" and address not in open_addresses:
                sizes.append(block["requested_size"])
            address += block["size"]
    return len(sizes), sum(sizes)


def segments_of(snapshot, device):
    return [segment for segment in snapshot["segments"] if segment["device"] == device]


def expected_drawing(snapshot, device):
    trace = snapshot["device_traces"][device]
    elements, current = initially_live(snapshot, device)
    peak = current
    for event in trace:
        if event["action"] == "alloc":
            elements += 1
            current += event["size"]
        elif event["action"] in CLOSING:
            current -= event["size"]
        peak = max(peak, current)
    merged = sum(  # a request and its completion side by side are one line of the history
        first["action"] == "free_requested" and second["action"] == "free_completed" and first["addr"] == second["addr"]
        for first, second in zip(trace, trace[1:])
    )
    segments = segments_of(snapshot, device)
    blocks = [block["requested_size"] for segment in segments for block in segment["blocks"] if block["state"] in ALLOCATED]
    return {
        "elements": elements,
        "peak": peak,
        "events": len(trace) - merged,
        "segments": len(segments),
        "blocks": len(blocks),
        "allocated": sum(blocks),
        "reserved": sum(segment["total_size"] for segment in segments),
    }
