"""How far the simulated GPU's allocations agree with the real one's: the same scripts on both."""

from cases import BY_NAME
from target import SKIPPED, Outcome, judged

CASES = ("adamw_foreach", "convolutions_and_gru", "cuda_graph")
ACTIONS = ("alloc", "free_requested", "segment_alloc", "segment_free")
LEAST_SHARE = 0.95
PROFILES = ("h200", "h100", "a100", "l40s", "l4", "t4")  # by what PyTorch calls the GPU, in this order


def normalised(trace):
    """[(action, size, which allocation)]: addresses differ, the order of what they stand for does not."""
    live, made, result = {}, 0, []
    for event in trace:
        action, address = event["action"], event.get("addr")
        if action not in ACTIONS:
            continue
        kind = action.startswith("segment")
        if action in ("alloc", "segment_alloc"):
            live[kind, address] = made
            made += 1
        result.append((action, event["size"], live.get((kind, address))))
    return result


def agreeing_prefix(real, simulated):
    return next((index for index, pair in enumerate(zip(real, simulated)) if pair[0] != pair[1]), min(len(real), len(simulated)))


def profile_of(gpu_name):
    return next((profile for profile in PROFILES if profile in gpu_name.lower()), "h100")


def check(target):
    if target.simulated:
        yield Outcome("agreement of the simulated GPU", SKIPPED, "there is no real GPU to compare with")
        return
    import torch

    gpu = profile_of(torch.cuda.get_device_name(0))
    for name in CASES:
        traces = []
        for simulate in ("", gpu):
            _, account = target.with_history(BY_NAME[name], simulate or None)
            traces.append(normalised(account["snapshot"]["device_traces"][0]))
        real, simulated = traces
        longest = max(len(real), len(simulated))
        prefix = agreeing_prefix(real, simulated)
        detail = f"the first {prefix} of {longest} events agree with --simulate {gpu}"
        yield judged(f"agreement: {name}", longest > 0 and prefix / longest >= LEAST_SHARE, detail, events=longest, agreeing=prefix)
