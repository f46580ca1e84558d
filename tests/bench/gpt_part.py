"""How much longer a GPT training step takes."""

import statistics

from table import Row, at_most, spread
from workers import PLAIN, Mode, alternate

BOTH = Mode("vramscope", stacks="python,native")
ALL = Mode("PyTorch, all", history="all")
LAYERS = 20
PROCESSES, ROUNDS = 5, 40  # where a process lies in memory changes its speed by more than we look for


def measure(folder):
    percent = {BOTH: [], ALL: []}
    fastest = {PLAIN: [], BOTH: []}
    for process in range(PROCESSES):
        modes = (PLAIN, BOTH, ALL) if process == 0 else (PLAIN, BOTH)
        values = alternate(modes, "tests/bench/jobs/gpt_step.py", [LAYERS], ROUNDS, folder / str(process))
        for mode in modes[1:]:
            percent[mode] += [100 * (a / b - 1) for a, b in zip(values[mode], values[PLAIN])]
        for mode, each in fastest.items():
            each.append(min(values[mode]))
    ours = percent[BOTH]
    minimum = 100 * (statistics.median(fastest[BOTH]) / statistics.median(fastest[PLAIN]) - 1)
    pairs = f"paired median of {len(ours)} rounds in {PROCESSES} pairs of processes"
    return [
        Row("GPT step, no profiler", f"{statistics.median(fastest[PLAIN]):.1f} ms at best"),
        at_most(f"GPT step, vramscope, {pairs}", statistics.median(ours), 2, "%", spread(ours, "%", 1), 2),
        Row("GPT step, vramscope, fastest steps", f"{minimum:+.2f} %"),
        Row("GPT step, PyTorch, all, paired median", f"{statistics.median(percent[ALL]):+.1f} %"),
    ]
