"""Adam's first step on a model of 300 MiB: model and gradients fit a GPU of 1 GiB, the two moments do not."""

import torch

weight = torch.nn.Parameter(torch.zeros(75 << 20, device="cuda"))  # 300 MiB
optimizer = torch.optim.Adam([weight], foreach=False)
weight.grad = torch.zeros_like(weight)
optimizer.step()
