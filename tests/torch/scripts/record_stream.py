"""Tensors of one stream that another stream still uses when they are freed."""

import torch

side = torch.cuda.Stream()
for step in range(20):
    produced = torch.randn(256 + step, 4096, device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        consumed = produced * 2
        produced.record_stream(side)
    del produced
    reused = torch.empty(256 + step, 4096, device="cuda")
    torch.cuda.current_stream().wait_stream(side)
    total = consumed.sum() + reused.sum()
torch.cuda.synchronize()
print("allocated", torch.cuda.memory_allocated(), "peak", torch.cuda.max_memory_allocated())
