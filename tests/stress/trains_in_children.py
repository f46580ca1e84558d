"""Forks a child for each line on standard input: it trains until it is killed, and logs the driver's calls there.

PyTorch is loaded once. The parent never uses the GPU, so each child is a job of its own.
"""

import os
import pathlib
import runpy
import sys

import torch  # noqa: F401

TRAINS = pathlib.Path(__file__).parents[1] / "torch" / "scripts" / "trains_for_ever.py"

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        os.environ["VRAMSCOPE_SIM_LOG"] = line.strip()
        runpy.run_path(str(TRAINS))
    os.write(1, f"{child}\n".encode())
    os.waitpid(child, 0)
