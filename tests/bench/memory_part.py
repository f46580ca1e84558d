"""Memory of the recorder in the process, and whether it grows with the length of the run."""

from programs import FOLDER, use_of
from support.paths import TOOL
from support.simulation import simulation_variables
from table import Row, at_most
from workers import GPU, progress

MIB = 1 << 20
PROGRAM = FOLDER / "allocating_threads"
EVENTS = 4_000_000  # of all threads together


def samples(output):
    """Bytes before the first allocation, halfway, at the end."""
    return [1024 * sum(map(int, line.split())) for line in output.splitlines()]


def measure(folder):
    rows = []
    for threads in (1, 64):
        arguments = [threads, EVENTS // threads]
        progress(f"{threads} threads")
        plain = samples(use_of([PROGRAM, *arguments], simulation_variables(GPU)).output)
        command = [TOOL, "run", "--simulate", GPU, "-o", folder / str(threads), "--", PROGRAM, *arguments]
        ours = samples(use_of(command).output)
        added = [(a - b) / MIB for a, b in zip(ours, plain)]
        name = f"{threads} thread{'s' * (threads > 1)}, {EVENTS:,} events"
        rows.append(at_most(f"{name}: recorder in the process", added[2], 32 + threads, "MiB", digits=1))
        rows.append(Row(f"{name}: second half of the run", f"{added[2] - added[1]:+,.1f} MiB"))
    return rows
