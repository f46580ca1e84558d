"""Fails: an uncaught exception, or the status given.   Usage: exits_with_status.py [STATUS]"""

import sys

import torch

kept = torch.ones(1 << 20, device="cuda")
print("allocated", torch.cuda.memory_allocated())
if len(sys.argv) > 1:
    sys.exit(int(sys.argv[1]))
raise RuntimeError("the training script's own error")
