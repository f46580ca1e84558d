"""Our snapshot and report against PyTorch's own recorder, in one run: the cases of tests/torch."""

import concurrent.futures
import os

from cases import BY_NAME
from outcome import attempted, judged
from support import events
from support.differences import first_difference

CASES = ("linear", "adamw_foreach", "adamw_fused", "record_stream", "cuda_graph", "mem_pool", "expandable_segments")
SHORT_CASES = ("cuda_graph",)
COUNTERS = ("live_bytes", "peak_allocated_bytes", "peak_reserved_bytes")


def split_by_allocator(ours, theirs):
    """(PyTorch's own events of our trace, segments that other libraries took from the driver).

    Beside PyTorch a real GPU serves cuBLAS, cuDNN, NCCL: ours shows their memory, PyTorch's does not. A segment that
    PyTorch has never named is theirs, and so is the block in it, as large as itself. The counters of reserved
    bytes, compared as well, tell if PyTorch's own were missed by this.
    """
    known = {(event["addr"], event["size"]) for event in theirs if event["action"].startswith("segment")}
    own, outside, foreign = [], [], {}
    for event in ours:
        place = event.get("addr"), event["size"]
        if event["action"] == "segment_alloc" and place not in known:
            foreign[place[0]] = place
            outside.append(place)
        elif event["action"] == "segment_free" and foreign.get(place[0]) == place:
            del foreign[place[0]]
        elif foreign.get(place[0]) != place:
            own.append(event)
    return own, outside


def compared_traces(ours, theirs):
    """(events compared, frames compared, segments of others, the first difference or None)."""
    own, outside = split_by_allocator(events.interleaved_events(ours), events.interleaved_events(theirs))
    expected = events.interleaved_events(theirs)
    difference = first_difference(events.interleaved(own), events.interleaved(expected), ("ours", "torch"))
    frames = 0
    if difference is None:
        stacks = [[events.python_frames(event) for event in trace] for trace in (own, expected)]
        difference = first_difference(*stacks, ("our frames", "torch's frames"))
        frames = sum(map(len, stacks[1]))
    return len(expected), frames, len(outside), difference


def parity_of(target, name):
    sessions, account = target.with_history(BY_NAME[name])
    process = target.report(sessions)
    ours, theirs = target.snapshot(sessions)["device_traces"], account["snapshot"]["device_traces"]
    reported = {device["device"]: device for device in process["devices"]}
    problems = [f"{process['lost_events']} events lost"] if process["lost_events"] else []
    compared = frames = foreign = 0
    for device, trace in enumerate(theirs):
        if not trace:
            continue
        counts = compared_traces(ours[device] if device < len(ours) else [], trace)
        compared, frames, foreign = compared + counts[0], frames + counts[1], foreign + counts[2]
        problems += [counts[3]] if counts[3] else []
        sides = account["devices"][device], reported[device]
        pairs = [[(key, counters.get(key)) for key in COUNTERS] for counters in sides]
        problems += filter(None, [first_difference(*pairs, ("torch", "ours"))])
    figures = {"events": compared, "frames": frames, "segments_of_other_libraries": foreign, "problems": problems}
    detail = f"{compared} events, {frames} Python frames and all counters equal PyTorch's"
    if problems:
        detail = " | ".join(line.strip() for line in problems[0].splitlines())
    yield judged(f"parity: {name}", min(compared, frames), not problems, detail, **figures)


def check(target):
    at_once = min(4, max(1, (os.cpu_count() or 1) // 4))
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        names = SHORT_CASES if target.is_short else CASES
        for outcomes in pool.map(lambda name: attempted(f"parity: {name}", parity_of, target, name), names):
            yield from outcomes
