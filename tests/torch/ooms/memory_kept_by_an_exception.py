"""Out of memory, again inside `except`: the traceback keeps the frame's 700 MiB alive. GPU of 1 GiB."""

import torch


def step():
    activations = torch.empty(700 << 20, dtype=torch.uint8, device="cuda")
    return activations, torch.empty(500 << 20, dtype=torch.uint8, device="cuda")


try:
    step()
except torch.OutOfMemoryError:
    torch.empty(400 << 20, dtype=torch.uint8, device="cuda")  # smaller, and yet
