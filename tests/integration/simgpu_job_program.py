"""The processes of a job share the memory of their GPU.   Usage: simgpu_job_program.py

Prints MiB in use, as the parent sees it, while children allocate, end, and are killed. Children are the same program
with the number of MiB to allocate.
"""

import ctypes
import subprocess
import sys

MIB = 1 << 20
OUT_OF_MEMORY = 2
driver = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    result = getattr(driver, name)(*arguments)
    if result:
        sys.exit(f"{name}: error {result}")


def use_gpu():
    context = ctypes.c_void_p()
    call("cuInit", 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    call("cuCtxSetCurrent", context)


def allocate(mebibytes):
    address = ctypes.c_uint64()
    return driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(mebibytes * MIB))


def used():
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
    return (total.value - free.value) // MIB


def start_child(mebibytes):
    child = subprocess.Popen([sys.executable, __file__, str(mebibytes)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    return child, child.stdout.readline().decode().strip()


def run_child(mebibytes):
    use_gpu()
    print({0: "allocated", OUT_OF_MEMORY: "out of memory"}[allocate(mebibytes)], flush=True)
    sys.stdin.read()


def run_parent():
    use_gpu()
    print("alone", used())
    first, outcome = start_child(600)
    print("first child", outcome, used())
    second, outcome = start_child(400)
    print("second child", outcome, used())
    print("parent", allocate(300), used())
    second.stdin.close()
    second.wait()
    print("second child ended", used())
    first.kill()
    first.wait()
    print("first child was killed", used())
    print("parent", allocate(900), used())


if len(sys.argv) > 1:
    run_child(int(sys.argv[1]))
else:
    run_parent()
