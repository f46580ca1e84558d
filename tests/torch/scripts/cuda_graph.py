"""Captures forward and backward passes into a CUDA graph, replays it, and drops it."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 512)).cuda()
static_input = torch.randn(64, 512, device="cuda")

warm_up = torch.cuda.Stream()
warm_up.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(warm_up):
    for _ in range(3):
        model(static_input).sum().backward()
torch.cuda.current_stream().wait_stream(warm_up)
model.zero_grad(set_to_none=True)

graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    static_output = model(static_input)
    static_output.sum().backward()
for _ in range(4):
    static_input.copy_(torch.randn(64, 512, device="cuda"))
    graph.replay()
torch.cuda.synchronize()
print("allocated with the graph", torch.cuda.memory_allocated(), torch.cuda.memory_reserved())

model.zero_grad(set_to_none=True)
del graph, static_output
torch.cuda.empty_cache()
print("allocated without it", torch.cuda.memory_allocated(), torch.cuda.memory_reserved())
