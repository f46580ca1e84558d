"""Allocates, prints PyTorch's own figures, and waits for a line on standard input; three times."""

import sys

import torch

kept = []
for number in range(1, 4):
    kept += [torch.ones(size << 18, device="cuda") for size in range(1, 6 * number)]
    del kept[::number]
    figures = ("memory_allocated", "max_memory_allocated", "memory_reserved")
    print(*(f"{name}={getattr(torch.cuda, name)()}" for name in figures), flush=True)
    sys.stdin.readline()
