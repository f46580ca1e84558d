"""Our snapshot and report against PyTorch's own recorder, in one run: the cases of tests/torch."""

from cases import BY_NAME
from support import events
from support.differences import first_difference
from target import judged

CASES = ("linear", "adamw_foreach", "adamw_fused", "record_stream", "cuda_graph", "mem_pool", "expandable_segments")


def differences(target, sessions, account):
    (process,) = target.report(sessions)
    if process["lost_events"]:
        yield f"{process['lost_events']} events lost"
    ours, theirs = target.snapshot(sessions)["device_traces"], account["snapshot"]["device_traces"]
    reported = {device["device"]: device for device in process["devices"]}
    for device, trace in enumerate(theirs):
        if not trace:
            continue
        mine = ours[device] if device < len(ours) else []
        yield first_difference(events.interleaved(mine), events.interleaved(trace), ("ours", "torch"))
        counters = account["devices"][device]
        yield first_difference(
            sorted(counters.items()), sorted((key, reported[device][key]) for key in counters), ("torch", "ours")
        )


def check(target):
    for name in CASES:
        sessions, account = target.with_history(BY_NAME[name])
        found = [difference for difference in differences(target, sessions, account) if difference]
        compared = sum(len(events.interleaved(trace)) for trace in account["snapshot"]["device_traces"])
        detail = found[0] if found else f"{compared} events and all counters equal PyTorch's"
        yield judged(f"parity: {name}", compared > 0 and not found, detail, events=compared)
