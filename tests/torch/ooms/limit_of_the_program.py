"""set_per_process_memory_fraction(0.5) on a GPU of 1 GiB, then 600 MiB: PyTorch does not ask the driver."""

import torch

torch.cuda.set_per_process_memory_fraction(0.5)
torch.empty(600 << 20, dtype=torch.uint8, device="cuda")
