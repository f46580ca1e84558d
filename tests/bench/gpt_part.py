"""How much longer a GPT training step takes."""

import statistics

from table import Row, at_most, spread
from workers import PLAIN, Mode, alternate

BOTH = Mode("vramscope", stacks="python,native")
ALL = Mode("PyTorch, all", history="all")
LAYERS = 20
PROCESSES, ROUNDS = 14, 8  # where a process lies in memory changes its speed by more than we look for


WALL, CPU = 0, 1  # what a job answers


def measure(folder):
    more = {(mode, clock): [] for mode in (BOTH, ALL) for clock in (WALL, CPU)}  # percent, of each round
    fastest = []
    for process in range(PROCESSES):
        modes = (PLAIN, BOTH, ALL) if process == 0 else (PLAIN, BOTH)
        values = alternate(modes, "tests/bench/jobs/gpt_step.py", [LAYERS], ROUNDS, folder / str(process))
        fastest.append(min(ms for ms, _ in values[PLAIN]))
        for mode, clock in more:
            pairs = zip(values.get(mode, ()), values[PLAIN])
            more[mode, clock] += [100 * (ours[clock] / plain[clock] - 1) for ours, plain in pairs]
    ours, ours_cpu = more[BOTH, WALL], more[BOTH, CPU]
    pairs = f"paired median of {len(ours)} rounds in {PROCESSES} pairs of processes"
    return [
        Row("GPT step, no profiler", f"{min(fastest):.1f} ms at best"),
        at_most(f"GPT step, vramscope, {pairs}", statistics.median(ours), 2, "%", spread(ours, "%", 1), 2),
        at_most("the same in CPU time", statistics.median(ours_cpu), 2, "%", spread(ours_cpu, "%", 1), 2),
        Row("GPT step, PyTorch, all, paired median", f"{statistics.median(more[ALL, WALL]):+.1f} %"),
        Row("the same in CPU time", f"{statistics.median(more[ALL, CPU]):+.1f} %"),
    ]
