"""Trains a small network with AdamW.   Usage: train_adamw.py foreach|fused"""

import sys

import torch
from torch import nn

model = nn.Sequential(
    nn.Linear(512, 2048), nn.GELU(), nn.LayerNorm(2048), nn.Dropout(0.1), nn.Linear(2048, 512)
).cuda()
optimizer = torch.optim.AdamW(model.parameters(), **{sys.argv[1]: True})
for step in range(5):
    inputs = torch.randn(64 + step, 512).cuda()
    labels = torch.randint(0, 512, (64 + step,), device="cuda")
    loss = nn.functional.cross_entropy(model(inputs), labels)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    print("step", step, "allocated", torch.cuda.memory_allocated())
