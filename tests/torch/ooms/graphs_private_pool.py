"""A CUDA graph holds 600 MiB of scratch memory in its private pool, free there; then 500 MiB are asked for. GPU of 1 GiB."""

import torch

static = torch.zeros(1 << 20, dtype=torch.uint8, device="cuda")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    scratch = torch.empty(600 << 20, dtype=torch.uint8, device="cuda")
    scratch.zero_()
    del scratch
torch.empty(500 << 20, dtype=torch.uint8, device="cuda")
