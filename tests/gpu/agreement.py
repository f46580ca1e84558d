"""How far the simulated GPU's allocations agree with the real one's: the same scripts on both."""

import difflib

from cases import BY_NAME
from outcome import SKIPPED, Outcome, attempted, judged

CASES = ("adamw_foreach", "convolutions_and_gru", "cuda_graph")
SHORT_CASES = ("cuda_graph",)
ACTIONS = ("alloc", "free_requested", "segment_alloc", "segment_free")
LEAST_SHARE = 0.95
PROFILES = ("h200", "h100", "a100", "l40s", "l4", "t4")  # by what PyTorch calls the GPU, in this order
OTHERWISE = "h100"
SIMULATED_CUDA = "13"  # what the simulated libraries stand in for


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
    different = (index for index, (left, right) in enumerate(zip(real, simulated)) if left != right)
    return next(different, min(len(real), len(simulated)))


def matching_share(real, simulated):
    """How much of the two is common, in order, whatever was put between: of actions and sizes alone, since a number
    more on one side shifts all numbers after it."""
    sides = [[event[:2] for event in trace] for trace in (real, simulated)]
    return difflib.SequenceMatcher(None, *sides, autojunk=False).ratio()


def profile_of(gpu_name):
    return next((profile for profile in PROFILES if profile in gpu_name.lower()), OTHERWISE)


def trace_on(target, side, case, simulate):
    """PyTorch's own trace and peaks: neither side depends on what we recorded."""
    _, account = target.with_history(case, simulate, f"{case.name}-{side}")
    return normalised(account["snapshot"]["device_traces"][0]), account["devices"][0]


def agreement_of(target, gpu, name):
    real, real_peaks = trace_on(target, "real", BY_NAME[name], target.simulated)
    simulated, simulated_peaks = trace_on(target, "simulated", BY_NAME[name], gpu)
    longest, prefix = max(len(real), len(simulated)), agreeing_prefix(real, simulated)
    share = matching_share(real, simulated)
    figures = {
        "events": longest,
        "agreeing_prefix": prefix,
        "matching_share": round(share, 4),
        "first_difference": {"real": real[prefix : prefix + 3], "simulated": simulated[prefix : prefix + 3]},
        "real": real_peaks,
        "simulated": simulated_peaks,
    }
    peaks = [side["peak_allocated_bytes"] for side in (real_peaks, simulated_peaks)]
    detail = (
        f"{share:.1%} of {longest} events as with --simulate {gpu}; the first {prefix} in a row; "
        f"peak allocated {peaks[0]:,} against {peaks[1]:,} B"
    )
    yield judged(f"agreement: {name}", min(len(real), len(simulated)), share >= LEAST_SHARE, detail, **figures)


def check(target):
    cuda = str(target.facts["cuda"])
    if cuda.split(".")[0] != SIMULATED_CUDA:
        detail = f"the simulated GPU stands for CUDA {SIMULATED_CUDA}, this PyTorch is for {cuda}"
        yield Outcome("agreement", SKIPPED, detail)
        return
    gpu = target.simulated or profile_of(target.facts["gpu"])
    for name in SHORT_CASES if target.is_short else CASES:
        for outcome in attempted(f"agreement: {name}", agreement_of, target, gpu, name):
            # The simulated GPU agrees with itself: that shows that the comparison works, and nothing about a GPU.
            if target.simulated and outcome.status == "pass":
                detail = f"there is no real GPU to compare with; with itself: {outcome.detail}"
                outcome = Outcome(outcome.check, SKIPPED, detail, outcome.compared, outcome.figures)
            yield outcome
