"""PyTorch's own account of its memory: started, dumped, and carried into spawned processes."""

import os
import pickle
import sys

import torch
import torch.multiprocessing


def has_history():
    return torch.cuda.get_allocator_backend() == "native"


def start():
    if has_history():
        torch.cuda.memory._record_memory_history(max_entries=10_000_000, stacks="python")


def dump(folder):
    """Writes {"snapshot": ..., "devices": [{live_bytes, peak_allocated_bytes, peak_reserved_bytes}]}."""
    devices = [
        {
            "live_bytes": torch.cuda.memory_allocated(device),
            "peak_allocated_bytes": torch.cuda.max_memory_allocated(device),
            "peak_reserved_bytes": torch.cuda.max_memory_reserved(device),
        }
        for device in range(torch.cuda.device_count())
    ]
    account = {"snapshot": torch.cuda.memory._snapshot() if has_history() else None, "devices": devices}
    with open(os.path.join(folder, f"torch-{os.getpid()}.pickle"), "wb") as file:
        pickle.dump(account, file)


def leave(status):
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


class RecordedFunction:
    """What a spawned process runs: the function of the script between start and dump."""

    def __init__(self, function, folder):
        self.function = function
        self.folder = folder

    def __call__(self, *arguments):
        start()
        self.function(*arguments)
        dump(self.folder)
        leave(0)


def record_spawned_processes(folder):
    spawn = torch.multiprocessing.spawn

    def spawn_recorded(fn, *arguments, **options):
        return spawn(RecordedFunction(fn, folder), *arguments, **options)

    torch.multiprocessing.spawn = spawn_recorded
