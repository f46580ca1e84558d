"""For torchrun: each rank keeps as many MiB as its number says, on its own GPU."""

import os

import torch

rank = int(os.environ["RANK"])
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
kept = torch.ones((rank + 1) << 20, dtype=torch.uint8, device="cuda")
torch.cuda.synchronize()
