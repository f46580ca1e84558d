"""Leaves holes between blocks, then asks for more than any hole holds: what the allocator's settings change.

Usage: fragments.py [two-streams]
"""

import sys

import torch

MIB = 1 << 20


def tensor(mebibytes):
    return torch.empty(mebibytes * MIB, dtype=torch.uint8, device="cuda")


blocks = [tensor(3 + 7 * number) for number in range(30)]
blocks = blocks[::2]
large = tensor(900)
stream = torch.cuda.Stream() if "two-streams" in sys.argv else torch.cuda.current_stream()
with torch.cuda.stream(stream):
    on_stream = [tensor(30), tensor(50)]
small = [torch.empty(1 + 1000 * number, device="cuda") for number in range(200)]
small = small[::3]
print("allocated", torch.cuda.memory_allocated(), "reserved", torch.cuda.memory_reserved())

blocks = blocks[::2]
torch.cuda.empty_cache()
refilled = [tensor(2 + 5 * number) for number in range(20)]
del large, on_stream[0]
torch.cuda.empty_cache()
print("allocated", torch.cuda.memory_allocated(), "reserved", torch.cuda.memory_reserved())
print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
