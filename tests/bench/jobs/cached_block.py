"""ns of CPU time of one allocation and free of a block that the allocator has cached, deep inside calls.

Usage: cached_block.py PYTHON_FRAMES MODULES PAIRS    MODULES: nn.Modules around it, each of which
adds Python and native frames
"""

import ctypes
import sys
import time

import torch
import worker


def native_frames():
    """Of this thread; the first ones are ctypes' own."""
    addresses = (ctypes.c_void_p * 4096)()
    return ctypes.CDLL(None).backtrace(addresses, len(addresses))


def python_frames():
    frame, count = sys._getframe(), 0
    while frame:
        frame, count = frame.f_back, count + 1
    return count


def measure(pairs):
    if pairs == 0:
        return f"{python_frames() - 1} Python frames, about {native_frames() - 4} native frames"
    start = time.thread_time_ns()
    for _ in range(pairs):
        block = torch.empty(262_144, device="cuda")
        del block
    return (time.thread_time_ns() - start) / pairs


class Nest(torch.nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.inner = Nest(depth - 1) if depth > 1 else measure

    def forward(self, pairs):
        return self.inner(pairs)


def deeper(depth, function, pairs):
    return deeper(depth - 1, function, pairs) if depth else function(pairs)


depth, modules, pairs = map(int, sys.argv[1:])
innermost = Nest(modules) if modules else measure
frames_so_far = python_frames()
extra = max(0, depth - frames_so_far - 2)  # run(), serve()


def run(count=pairs):
    return deeper(extra, innermost, count)


worker.start_history()
run(pairs // 4 + 1)  # everything that happens once
worker.serve(run(0), run)
