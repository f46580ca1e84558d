"""Takes memory step by step; prints what NVML says each step took of the GPU, and what PyTorch reserved for it.

Usage: invisible_memory.py TENSOR_BYTES      Last line: {"problem": ..., "phases": [...]}
"""

import ctypes
import json
import sys

import torch


class Memory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


class Nvml:
    """The board of CUDA's device 0, whatever its number is to NVML."""

    def __init__(self):
        self.library = ctypes.CDLL("libnvidia-ml.so.1")
        self.device = ctypes.c_void_p()
        self.call("nvmlInit_v2")
        self.call("nvmlDeviceGetHandleByPciBusId_v2", self.bus(), ctypes.byref(self.device))
        self.used()

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name} answers {status}")

    def bus(self):
        cuda, text = ctypes.CDLL("libcuda.so.1"), ctypes.create_string_buffer(64)
        device = ctypes.c_int()
        status = cuda.cuInit(0) or cuda.cuDeviceGet(ctypes.byref(device), 0) or cuda.cuDeviceGetPCIBusId(text, 64, device)
        if status != 0:
            raise RuntimeError(f"the driver answers {status}")
        return text

    def used(self):
        memory = Memory()
        self.call("nvmlDeviceGetMemoryInfo", self.device, ctypes.byref(memory))
        return memory.used


def context():
    torch.cuda.synchronize()


def tensor():
    return torch.empty(int(sys.argv[1]), dtype=torch.uint8, device="cuda")


def cublas():
    matrix = torch.ones(512, 512, device="cuda")
    return matrix @ matrix


def nccl():
    if not torch.distributed.is_available() or not torch.distributed.is_nccl_available():
        raise RuntimeError("this PyTorch has no NCCL")
    # No network: one process, a store within it.
    torch.distributed.init_process_group("nccl", store=torch.distributed.HashStore(), rank=0, world_size=1)
    torch.distributed.all_reduce(torch.ones(1 << 20, device="cuda"))


def measured(nvml, step, kept):
    problem, reserved = None, torch.cuda.memory_reserved() if torch.cuda.is_initialized() else 0
    before = nvml.used()
    try:
        kept.append(step())
        torch.cuda.synchronize()
    except Exception as error:  # noqa: BLE001
        problem = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
    return {
        "name": step.__name__,
        "problem": problem,
        "nvml_bytes": nvml.used() - before,
        "pytorch_bytes": torch.cuda.memory_reserved() - reserved,
    }


def main():
    try:
        nvml = Nvml()
    except (OSError, AttributeError, RuntimeError) as error:
        return {"problem": str(error), "phases": []}
    kept = []
    return {"problem": None, "phases": [measured(nvml, step, kept) for step in (context, tensor, cublas, nccl)]}


print(json.dumps(main()))
