"""Allocates GPU memory by the driver API alone, without PyTorch.   Usage: allocate.py COUNT BYTES

Allocates COUNT times, frees every second one, prints how much is left.
"""

import ctypes
import sys

count, size = int(sys.argv[1]), int(sys.argv[2])
driver = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    result = getattr(driver, name)(*arguments)
    if result:
        sys.exit(f"{name}: error {result}")


context = ctypes.c_void_p()
call("cuInit", 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
call("cuCtxSetCurrent", context)
addresses = []
for _ in range(count):
    address = ctypes.c_uint64()
    call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
    addresses.append(address)
for address in addresses[::2]:
    call("cuMemFree_v2", address)
print("live", (count - len(addresses[::2])) * size)
