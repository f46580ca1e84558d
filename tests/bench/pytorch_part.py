"""What a recorder adds to an allocation and free of a cached block, against PyTorch's own recorder: CPU time of the
thread, since the machine may be busy."""

import statistics

from table import Row, spread
from workers import PLAIN, Mode, alternate

BOTH = Mode("vramscope, both", stacks="python,native")
OURS = (Mode("vramscope, python", stacks="python"), Mode("vramscope, native", stacks="native"), BOTH)
PYTHON, ALL = Mode("PyTorch, python", history="python"), Mode("PyTorch, all", history="all")
THEIRS = (Mode("PyTorch, state", history="state"), PYTHON, ALL)
PAIRS = 4_000  # a turn of each process: short, so that all meet the same load; long enough to warm the caches
SETS = 4  # of processes: where one lies in memory changes its speed by a good part of what we look for


def added(values):
    """{mode: [ns more than without a profiler, of each round]}"""
    plain = values[PLAIN]
    return {mode: [a - b for a, b in zip(each, plain)] for mode, each in values.items() if mode != PLAIN}


def at_least_times(what, theirs, ours, limit):
    """How many times more the other recorder adds; a recorder that adds nothing measurable wins."""
    ratio = theirs / ours if ours > 0 else float("inf")
    return Row(what, f"1/{ratio:.1f}", f"<= 1/{limit}", ratio >= limit)


def measure_at(title, modes, arguments, rounds, limits, folder):
    values = {mode: [] for mode in modes}
    for number in range(SETS):
        answers = alternate(modes, "tests/bench/jobs/cached_block.py", arguments, rounds, folder / str(number))
        for mode, each in answers.items():
            values[mode] += [ns for (ns,) in each]
    more = added(values)
    rows = [Row(f"{title}: no profiler", f"{statistics.median(values[PLAIN]):,.0f} ns a pair")]
    for mode, each in more.items():
        fastest = min(values[mode]) - min(values[PLAIN])
        rows.append(
            Row(f"{title}: {mode.name}", f"+{statistics.median(each):,.0f} ns{spread(each, 'ns')}, minimum +{fastest:,.0f}")
        )
    ours = statistics.median(more[BOTH])
    ours_fastest = min(values[BOTH]) - min(values[PLAIN])
    for theirs, limit in limits:
        times = statistics.median(more[theirs])
        fastest = min(values[theirs]) - min(values[PLAIN])
        rows.append(at_least_times(f"{title}: both / {theirs.name}, medians", times, ours, limit))
        rows.append(at_least_times(f"{title}: both / {theirs.name}, minima", fastest, ours_fastest, limit))
    return rows


def measure(folder):
    shallow = measure_at(
        "20 Python frames",
        (PLAIN, *OURS, *THEIRS),
        ["20", "0", PAIRS],
        10,
        ((ALL, 15), (PYTHON, 10)),
        folder / "shallow",
    )
    deep = measure_at(
        "250 native frames", (PLAIN, BOTH, ALL), ["20", "20", PAIRS], 5, ((ALL, 40),), folder / "deep"
    )
    return shallow + deep
