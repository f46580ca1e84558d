"""ms and ms of CPU time of one training step of a small GPT, with about 3,000 allocations.

Usage: gpt_step.py LAYERS [STEPS]    with STEPS: makes so many steps and ends
"""

import sys
import time

import torch
import torch.nn.functional as F
import worker
from torch import nn

WIDTH, HEADS, VOCABULARY, BATCH, LENGTH = 256, 4, 1000, 4, 64


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.projection = nn.Linear(WIDTH, 3 * WIDTH)
        self.output = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.projection(x).view(batch, length, 3, HEADS, width // HEADS)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        weights = F.dropout((query @ key.transpose(-1, -2) / 8).softmax(-1), 0.1)
        return self.output((weights @ value).transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH), nn.Dropout(0.1)
        )
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(layers))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


torch.manual_seed(0)
model = GPT(int(sys.argv[1])).cuda()
optimizer = torch.optim.AdamW(model.parameters(), 1e-3, foreach=False)
ids = torch.randint(0, VOCABULARY, (BATCH, LENGTH)).cuda()


def step():
    with torch.autocast("cuda", torch.bfloat16):
        loss = F.cross_entropy(model(ids).view(-1, VOCABULARY), ids.view(-1))
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=False)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def allocations():
    return torch.cuda.memory_stats()["allocation.all.allocated"]


def timed_step():
    start, start_cpu = time.perf_counter_ns(), time.process_time_ns()
    step()
    cpu = time.process_time_ns() - start_cpu
    return f"{(time.perf_counter_ns() - start) / 1e6} {cpu / 1e6}"


worker.start_history()
for _ in range(3):
    step()
if len(sys.argv) > 2:
    for _ in range(int(sys.argv[2])):
        step()
else:
    before = allocations()
    step()
    worker.serve(f"{allocations() - before} allocations a step", timed_step)
