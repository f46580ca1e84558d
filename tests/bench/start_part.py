"""How long a process that never uses CUDA takes from its start to its end."""

import statistics

from programs import FOLDER, use_of
from support.paths import PRELOAD_LIBRARY
from table import Row, at_most, spread

LIMIT = 1.3  # times as long as with a library that does nothing


def measure(folder):
    rows = []
    for name, rounds, program in (("true", 2000, ["/bin/true"]), ("python -c pass", 100, ["/usr/bin/python3", "-c", "pass"])):
        libraries = [FOLDER / "libempty_preload.so", PRELOAD_LIBRARY]
        output = use_of([FOLDER / "start_benchmark", rounds, *libraries, *program]).output
        pairs = [tuple(map(float, line.split())) for line in output.splitlines()]
        ratios = [ours / empty for empty, ours in pairs]
        fastest = min(ours for _, ours in pairs) / min(empty for empty, _ in pairs)
        rows.append(Row(f"{name}, empty library", f"{statistics.median(empty for empty, _ in pairs):,.0f} us"))
        rows.append(at_most(f"{name}, vramscope / empty", statistics.median(ratios), LIMIT, "x", spread(ratios, "x", 2), 2))
        rows.append(Row(f"{name}, fastest / fastest", f"{fastest:.2f} x"))
    return rows
