"""Inside a graph capture, 300 MiB used on a second stream are freed; PyTorch cannot wait for it there. GPU of 1 GiB.

300 MiB pending + 500 MiB live + 224 MiB free: a request for 300 MiB fails.
"""

import torch

MIB = 1 << 20


def tensor(size):
    return torch.empty(size, dtype=torch.uint8, device="cuda")


live = tensor(500 * MIB)
side = torch.cuda.Stream()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    batch = tensor(300 * MIB)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        batch.add_(1)
    batch.record_stream(side)
    torch.cuda.current_stream().wait_stream(side)
    del batch
    tensor(300 * MIB)
