"""Stacks, events, rings and the heap model by themselves: Google Benchmark."""

import json

from programs import FOLDER, use_of
from table import Row, at_most
from workers import progress

REPETITIONS = 15

# (program, benchmark, what, target in ns)
FIGURES = (
    ("stacks_benchmark", "RepeatedStack", "repeated stack of 50 native and 30 Python frames", 150),
    ("stacks_benchmark", "NewStack", "new stack of 50 native and 30 Python frames", 3000),
    ("recorder_benchmark", "RingWrite", "an event into the ring", None),
    ("recorder_benchmark", "Free", "a free, with its stacks", 100),
)
THREADS = (1, 2, 4, 8)
NANOSECONDS = {"ns": 1, "ms": 1e6}


def run(program):
    """{benchmark: [ns of CPU time of each repetition]}"""
    progress(program)
    options = [
        f"--benchmark_repetitions={REPETITIONS}",
        "--benchmark_enable_random_interleaving=true",
        "--benchmark_min_time=0.05",
        "--benchmark_format=json",
    ]
    found = {}
    for result in json.loads(use_of([FOLDER / program, *options]).output)["benchmarks"]:
        if result["run_type"] != "iteration":
            continue
        manual = "manual_time" in result["name"]
        time = result["real_time" if manual else "cpu_time"] * NANOSECONDS[result["time_unit"]]
        found.setdefault(result["run_name"].split("/")[0] if manual else result["run_name"], []).append(time)
    return found


def middle(values):
    return sorted(values)[len(values) // 2]


def measure(folder):
    results = run("stacks_benchmark") | run("recorder_benchmark")
    rows = []
    for _, benchmark, what, limit in FIGURES:
        values = results[benchmark]
        note = f" (minimum {min(values):,.0f})"
        if limit is None:
            rows.append(Row(what, f"{middle(values):,.0f} ns{note}"))
        else:
            rows.append(at_most(what, middle(values), limit, "ns", note))
    alone = None
    for threads in THREADS:
        each = middle(results[f"Threads/threads:{threads}" if threads > 1 else "Threads/threads:1"])
        alone = alone or each
        rows.append(
            Row(f"allocation + free, {threads} threads at once", f"{each:,.0f} ns of CPU a pair ({each / alone:.2f} x of 1)")
        )
    heap = run("heap_history_benchmark")
    for benchmark, what in (("HeapAtRandomMoment", "at a random moment"), ("MakeHeapHistory", "checkpoints of")):
        rows.append(Row(f"the heap {what}, 10,000,000 events", f"{middle(heap[benchmark]) / 1e6:,.2f} ms"))
    return rows
