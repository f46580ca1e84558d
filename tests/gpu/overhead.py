"""What the profiler adds to an allocation and free of a cached block, and PyTorch's own recorder."""

import statistics

import workers
from target import judged

BOTH = workers.Mode("vramscope", stacks="python,native")
ALL = workers.Mode("PyTorch, all", history="all")
PYTHON = workers.Mode("PyTorch, python", history="python")
ROUNDS, PAIRS = 100, 400
LIMITS = ((ALL, 15), (PYTHON, 10))


def check(target):
    workers.GPU = target.simulated
    modes = (workers.PLAIN, BOTH, PYTHON, ALL)
    job = "tests/bench/jobs/cached_block.py"
    values = workers.alternate(modes, job, ["20", "0", PAIRS], ROUNDS, target.folder / "overhead")
    plain = statistics.median(values[workers.PLAIN])
    added = {
        mode: statistics.median(a - b for a, b in zip(values[mode], values[workers.PLAIN])) for mode in modes[1:]
    }
    for mode, limit in LIMITS:
        ratio = added[mode] / added[BOTH] if added[BOTH] > 0 else float("inf")
        detail = f"1/{ratio:.1f} of what {mode.name} adds (wanted: 1/{limit})"
        yield judged(
            f"overhead: against {mode.name}",
            ratio >= limit,
            detail,
            plain_ns=plain,
            vramscope_ns=added[BOTH],
            pytorch_ns=added[mode],
        )
