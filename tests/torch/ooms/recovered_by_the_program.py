"""900 MiB do not fit beside 300; 600 do: the program goes on. GPU of 1 GiB."""

import torch

kept = torch.empty(300 << 20, dtype=torch.uint8, device="cuda")
try:
    torch.empty(900 << 20, dtype=torch.uint8, device="cuda")
except torch.OutOfMemoryError:
    smaller = torch.empty(600 << 20, dtype=torch.uint8, device="cuda")
