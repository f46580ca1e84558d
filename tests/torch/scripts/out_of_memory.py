"""Runs out of memory, frees, goes on; then hits a limit of its own. For a GPU of 2 GiB."""

import torch

MIB = 1 << 20

kept = []
try:
    while True:
        kept.append(torch.empty(300 * MIB, dtype=torch.uint8, device="cuda"))
except torch.OutOfMemoryError:
    print("out of memory after", len(kept), "tensors")

kept.clear()
recovered = torch.empty(1500 * MIB, dtype=torch.uint8, device="cuda")
print("recovered", torch.cuda.memory_allocated(), torch.cuda.memory_reserved())

del recovered
torch.cuda.empty_cache()
torch.cuda.set_per_process_memory_fraction(0.5)
try:
    torch.empty(1500 * MIB, dtype=torch.uint8, device="cuda")
except torch.OutOfMemoryError:
    print("refused by the limit")
statistics = torch.cuda.memory_stats()
print("ooms", statistics["num_ooms"], "retries", statistics["num_alloc_retries"])
