"""Prints torch.cuda.memory_stats() at a moment in the middle and at the end, as JSON, a line each.

The moment is right after the free of a tensor whose size is printed too and used once. For a GPU of 1 GiB. Blocks of
both pools, splits, retries, out-of-memory errors, frees that a second stream delays.
"""

import json
import os
import sys

import torch

MIB = 1 << 20
MARK_BYTES = 1_234_944  # of the large pool, no other tensor's size


def print_statistics():
    print(json.dumps(torch.cuda.memory_stats_as_nested_dict()), flush=True)


def tensor(size):
    return torch.empty(size, dtype=torch.uint8, device="cuda")


kept = [tensor(size) for size in (700, 3000, MIB, 2 * MIB, 5 * MIB, 9 * MIB, 11 * MIB, 30 * MIB, 31 * MIB + 5)]
del kept[1], kept[3], kept[5]
side = torch.cuda.Stream()
for _ in range(3):  # the second stream still uses them when they are freed
    shared = tensor(6 * MIB)
    with torch.cuda.stream(side):
        shared.add_(1)
    shared.record_stream(side)
    del shared
mark = tensor(MARK_BYTES)
del mark
print_statistics()

cache = [tensor(200 * MIB) for _ in range(3)]
cache.clear()
served = tensor(500 * MIB)  # refused, the cache is emptied, served
try:
    tensor(900 * MIB)
except torch.OutOfMemoryError:
    pass
del served
kept.append(tensor(100 * MIB))  # of what was left
kept += [tensor(size) for size in (100, 200, 300 * 1024)]
del kept[-2]
shared = tensor(7 * MIB)
with torch.cuda.stream(side):
    shared.add_(1)
shared.record_stream(side)
del shared  # pending at the end, if the GPU lags
print_statistics()
sys.stdout.flush()
os._exit(0)  # what is alive at the end stays
