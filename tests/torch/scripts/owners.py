"""Memory of PyTorch, of NCCL and of the program itself; prints what each has."""

import ctypes

import torch

nccl = ctypes.CDLL("libnccl.so.2")
driver = ctypes.CDLL("libcuda.so.1")
pointer = ctypes.c_void_p()

torch.ones(1, device="cuda")  # makes the context
assert nccl.ncclMemAlloc(ctypes.byref(pointer), ctypes.c_size_t(12 << 20)) == 0
assert driver.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(5 << 20)) == 0
weights = torch.randn(1024, 1024, device="cuda")
product = weights @ weights  # cuBLAS works in memory that PyTorch has given it
print("PyTorch", torch.cuda.max_memory_reserved())
print("NCCL", 12 << 20)
print("Python", 5 << 20)
