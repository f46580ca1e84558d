"""PyTorch's cache holds 900 MiB that nothing uses; another library asks the driver for 200 MiB. GPU of 1 GiB."""

import ctypes

import torch

scratch = torch.empty(900 << 20, dtype=torch.uint8, device="cuda")
del scratch
address = ctypes.c_uint64()
allocate = ctypes.CDLL("libcuda.so.1").cuMemAlloc_v2
assert allocate(ctypes.byref(address), ctypes.c_size_t(200 << 20)) == 2
