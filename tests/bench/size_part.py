"""Size of session files and snapshots, time and memory to write and to read them."""

import json
import re

from programs import GENERATOR, use_of
from support.paths import PYTHON, TOOL
from table import Row, at_most
from workers import GPU, progress

MIB = 1 << 20
STEPS = 120  # of about 6,000 events
LAYERS = 20
MANY = 10_000_000


def events_of(use):
    """Events of a `vramscope report --json`."""
    (process,) = json.loads(use.output)["processes"]
    return process["events"]


def entries_of(session):
    text = use_of([TOOL, "report", session]).output
    return sum(int(count.replace(",", "")) for count in re.findall(r"entry [\d,]+ of ([\d,]+)", text))


def measure_real(folder):
    progress(f"recording {STEPS} GPT steps")
    script = "tests/bench/jobs/gpt_step.py"
    use_of([TOOL, "run", "--simulate", GPU, "-o", folder / "gpt", "--", PYTHON, script, LAYERS, STEPS])
    (session,) = (folder / "gpt").glob("*.vrams")
    events = events_of(use_of([TOOL, "report", "--json", session]))
    rows = [at_most(f"session of {events:,} events of a GPT", session.stat().st_size / events, 24, "B an event", digits=1)]
    entries = entries_of(session)
    snapshot = folder / "gpt.pickle"
    for option, name in (([], ""), (["--native"], ", native frames symbolised")):
        progress(f"snapshot {' '.join(option)}")
        use = use_of([TOOL, "snapshot", *option, session, "-o", snapshot])
        million = 1e6 / entries
        cpu = f" ({use.cpu_seconds * million:.2f} s of CPU)"
        rows.append(at_most(f"snapshot of 1,000,000 entries{name}", use.seconds * million, 5, "s", cpu, 2))
        rows.append(
            at_most(f"snapshot{name}, {entries:,} entries", snapshot.stat().st_size / entries, 64, "B an entry", digits=1)
        )
        rows.append(Row(f"snapshot{name}, peak memory", f"{use.peak_bytes / MIB:,.0f} MiB"))
    native = use_of([TOOL, "report", "--native", session])
    rows.append(Row("report --native of the same", f"{native.seconds:.2f} s, {native.peak_bytes / MIB:,.0f} MiB"))
    return rows


def measure_many(folder):
    rows = []
    for threads in (1, 8):
        session = folder / f"many-{threads}.vrams"
        progress(f"writing {MANY:,} events of {threads} threads")
        use_of([GENERATOR, session, MANY, threads])
        use = use_of([TOOL, "report", "--json", session])
        assert events_of(use) == MANY
        name = f"{MANY:,} events, {threads} thread{'s' * (threads > 1)}"
        rows.append(at_most(f"report of {name}", use.seconds, 10, "s", f" ({use.cpu_seconds:.2f} s of CPU)", 2))
        rows.append(at_most(f"report of {name}, peak memory", use.peak_bytes / MIB, 1024, "MiB"))
        session.unlink()
    return rows


def measure(folder):
    return measure_real(folder) + measure_many(folder)
