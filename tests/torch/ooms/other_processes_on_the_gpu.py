"""Four other processes have a context and 150 MiB each on GPU 0; then 500 MiB are asked for. GPU of 1 GiB."""

import subprocess
import sys

import torch

HOLD = "import sys, torch; x = torch.empty(150 << 20, dtype=torch.uint8, device='cuda'); print(1, flush=True); sys.stdin.read()"

others = [
    subprocess.Popen([sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(4)
]
try:
    for other in others:
        assert other.stdout.readline() == b"1\n"
    torch.empty(500 << 20, dtype=torch.uint8, device="cuda")
finally:
    for other in others:
        other.stdin.close()
        other.wait()
