"""Takes memory step by step; prints what NVML says each step took of the GPU, and what PyTorch reserved for it.

Usage: invisible_memory.py TENSOR_BYTES
"""

import ctypes
import json
import sys

import torch


class Memory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


nvml = ctypes.CDLL("libnvidia-ml.so.1")
assert nvml.nvmlInit_v2() == 0
device = ctypes.c_void_p()
assert nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device)) == 0


def used():
    memory = Memory()
    assert nvml.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory)) == 0
    return memory.used


def context():
    torch.cuda.synchronize()


def tensor():
    return torch.zeros(int(sys.argv[1]), dtype=torch.uint8, device="cuda")


def cublas():
    matrix = torch.ones(512, 512, device="cuda")
    return matrix @ matrix


def nccl():
    torch.distributed.init_process_group("nccl", init_method="tcp://127.0.0.1:0", rank=0, world_size=1)
    torch.distributed.all_reduce(torch.ones(1 << 20, device="cuda"))


kept, phases = [], []
for step in (context, tensor, cublas, nccl):
    before, reserved = used(), torch.cuda.memory_reserved() if phases else 0
    kept.append(step())
    torch.cuda.synchronize()
    phases.append(
        {"name": step.__name__, "nvml_bytes": used() - before, "pytorch_bytes": torch.cuda.memory_reserved() - reserved}
    )
print(json.dumps(phases))
