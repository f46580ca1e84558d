"""One request of 2^60 - 512 bytes (PyTorch refuses 2^60 before it asks its allocator) on a GPU of 1 GiB with 1 MiB live."""

import torch

kept = torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
torch.empty((1 << 60) - 512, dtype=torch.uint8, device="cuda")
