"""12 segments of 80 MiB, each with a live tensor of 2 MiB, then one request for 400 MiB. For a GPU of 1 GiB.

12 x 80 = 960 MiB reserved, 12 x 2 = 24 MiB live, 936 MiB cached, 64 MiB free; the largest free block has 78 MiB.
"""

import torch

MIB = 1 << 20


def tensor(size):
    return torch.empty(size, dtype=torch.uint8, device="cuda")


def load():
    samples, rests = [], []
    for _ in range(12):
        whole = tensor(80 * MIB)  # a segment of its own
        del whole
        samples.append(tensor(2 * MIB))  # its beginning
        rests.append(tensor(78 * MIB))
    return samples


samples = load()
tensor(400 * MIB)
