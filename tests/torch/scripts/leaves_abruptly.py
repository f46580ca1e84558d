"""Leaves by os._exit, or by a signal that cannot be caught, while tensors are alive.

Usage: leaves_abruptly.py STATUS|kill
"""

import os
import signal
import sys

import torch

kept = [torch.ones(number << 20, dtype=torch.uint8, device="cuda") for number in range(1, 30)]
del kept[::3]
print("memory_allocated", torch.cuda.memory_allocated())
print("max_memory_allocated", torch.cuda.max_memory_allocated())
print("max_memory_reserved", torch.cuda.max_memory_reserved())
sys.stdout.flush()
if sys.argv[1] == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
os._exit(int(sys.argv[1]))
