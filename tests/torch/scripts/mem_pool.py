"""Allocates from private pools beside the default one."""

import torch

first = torch.cuda.MemPool()
second = torch.cuda.MemPool()
outside = torch.empty(3 << 20, device="cuda")
with torch.cuda.use_mem_pool(first):
    inside_first = [torch.empty(5 << 20, device="cuda") for _ in range(3)]
with torch.cuda.use_mem_pool(second):
    inside_second = torch.empty(7 << 20, device="cuda")
    del outside
    with torch.cuda.use_mem_pool(first):
        nested = torch.empty(1 << 20, device="cuda")
del inside_first[1]
with torch.cuda.use_mem_pool(first):
    reuses_the_hole = torch.empty(4 << 20, device="cuda")
print("allocated", torch.cuda.memory_allocated(), "reserved", torch.cuda.memory_reserved())

del inside_first, nested, reuses_the_hole, first
torch.cuda.empty_cache()
print("allocated", torch.cuda.memory_allocated(), "reserved", torch.cuda.memory_reserved())
