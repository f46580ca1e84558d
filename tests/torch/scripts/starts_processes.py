"""Uses the GPU, and starts processes in all the ways that Python knows; some use the GPU too.

Prints the process id of each that does. The children know the driver only: PyTorch takes its time to load.
"""

import ctypes
import multiprocessing
import os
import subprocess
import sys


def use_driver():
    driver = ctypes.CDLL("libcuda.so.1")
    context, address = ctypes.c_void_p(), ctypes.c_uint64()
    assert driver.cuInit(0) == 0
    assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert driver.cuCtxSetCurrent(context) == 0
    for size in range(1, 20):
        assert driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size << 12)) == 0
    assert driver.cuMemFree_v2(address) == 0
    os.write(1, f"uses the GPU: {os.getpid()}\n".encode())


def rest():
    pass


def run_child(method, work):
    child = multiprocessing.get_context(method).Process(target=work)
    child.start()
    child.join()
    assert child.exitcode == 0


def main():
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    model = torch.nn.Linear(64, 64).cuda()
    os.write(1, f"uses the GPU: {os.getpid()}\n".encode())
    data = TensorDataset(torch.ones(64, 64))
    for _ in range(2):
        for (batch,) in DataLoader(data, batch_size=16, num_workers=2):
            model(batch.cuda()).sum().backward()
    run_child("fork", rest)
    run_child("spawn", rest)
    run_child("spawn", use_driver)
    run_child("forkserver", use_driver)
    if os.fork() == 0:
        os._exit(0)
    os.wait()
    program = [sys.executable, "-c", f"import runpy; runpy.run_path({__file__!r})['use_driver']()"]
    subprocess.run(program, check=True)
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    model(torch.ones(3, 64, device="cuda")).sum().backward()
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
