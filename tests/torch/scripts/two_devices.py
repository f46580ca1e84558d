"""One process with a model split over two GPUs, and data parallel copies."""

import torch
from torch import nn

first = nn.Linear(1024, 2048, device="cuda:0")
second = nn.Linear(2048, 256, device="cuda:1")
optimizer = torch.optim.AdamW([*first.parameters(), *second.parameters()])
for step in range(3):
    inputs = torch.randn(128, 1024, device="cuda:0")
    second(first(inputs).relu().to("cuda:1")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()

replicated = nn.DataParallel(nn.Linear(512, 512).cuda(), [0, 1])
for _ in range(2):
    replicated(torch.randn(64, 512, device="cuda:0")).sum().backward()
for device in range(2):
    print("device", device, torch.cuda.memory_allocated(device), torch.cuda.memory_reserved(device))
