"""What the measured scripts share: PyTorch's own recorder as BENCH_HISTORY asks, and the answers."""

import os
import sys

import torch


def start_history():
    history = os.environ.get("BENCH_HISTORY")
    record = torch.cuda.memory._record_memory_history
    if history == "state":
        record(enabled="all", context=None, max_entries=200_000)
    elif history:
        record(max_entries=200_000, stacks=history)


def answer(text):
    print(text, flush=True)


def serve(ready, measure):
    """Answers the first line with `ready`, each further one with measure()."""
    for number, _ in enumerate(sys.stdin):
        answer(measure() if number else ready)
