"""Allocates in streams of green contexts, which have a part of the GPU's multiprocessors."""

import torch
from torch.cuda.green_contexts import GreenContext

torch.ones(1, device="cuda")  # makes the primary context, which torch.cuda.green_contexts expects
for sms in (16, 24):
    part = GreenContext.create(num_sms=sms, device_id=0)
    with torch.cuda.stream(part.Stream()):
        tensors = [torch.ones(3 << 20, device="cuda") * factor for factor in range(4)]
        del tensors[1]
    torch.cuda.synchronize()
    print("multiprocessors", part.sm_count, "allocated", torch.cuda.memory_allocated())
    del tensors, part
print("peak", torch.cuda.max_memory_allocated(), "reserved", torch.cuda.memory_reserved())
