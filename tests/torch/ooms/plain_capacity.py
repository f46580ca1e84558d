"""Tensors of 100 MiB until the GPU of 1 GiB is full: ten fit, 24 MiB are left."""

import torch

kept = []
while True:
    kept.append(torch.empty(100 << 20, dtype=torch.uint8, device="cuda"))
