"""Allocates GPU memory by the driver API as it is told on standard input, one command a line.

alloc COUNT BYTES   allocates, then frees every second one
threads COUNT EACH  threads at once, each allocates and frees so many times
forever COUNT       the same, until the end; goes on with the next command at once
fork                a child that makes calls too (a driver refuses them) and leaves by os._exit
call NAME ...       os.NAME(...), of integers
execute             becomes another program: this one, without its memory
Each is answered by a line: done.
"""

import ctypes
import os
import sys
import threading

driver = ctypes.CDLL("libcuda.so.1")


def check(name, *arguments):
    result = getattr(driver, name)(*arguments)
    if result:
        raise SystemExit(f"{name}: error {result}")


def allocate(size):
    address = ctypes.c_uint64()
    check("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
    return address


def alloc(count, size):
    for number, address in enumerate([allocate(size) for _ in range(count)]):
        if number % 2 == 0:
            check("cuMemFree_v2", address)


def work(each):
    check("cuCtxSetCurrent", context)
    done = 0
    while done != each:
        check("cuMemFree_v2", allocate(4096 * (1 + done % 7)))
        done += 1


def start(count, each):
    started = [threading.Thread(target=work, args=(each,), daemon=True) for _ in range(count)]
    for thread in started:
        thread.start()
    return started


def threads(count, each):
    for thread in start(count, each):
        thread.join()


def fork():
    child = os.fork()
    if child == 0:
        driver.cuMemAlloc_v2(ctypes.byref(ctypes.c_uint64()), ctypes.c_size_t(4096))
        os._exit(0)
    os.waitpid(child, 0)


def lines():
    """Not a byte more than the line that is asked for: a program that is executed reads the next one."""
    line = b""
    while byte := os.read(0, 1):
        line += byte
        if byte == b"\n":
            yield line.decode()
            line = b""


COMMANDS = {
    "alloc": alloc,
    "threads": threads,
    "forever": lambda count: start(count, -1),
    "fork": fork,
    "execute": lambda: os.execv(sys.executable, [sys.executable, *sys.argv]),
}

check("cuInit", 0)
context = ctypes.c_void_p()
check("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
check("cuCtxSetCurrent", context)
for line in lines():
    name, *arguments = line.split()
    if name == "call":
        getattr(os, arguments[0])(*map(int, arguments[1:]))
    else:
        COMMANDS[name](*map(int, arguments))
    print("done", flush=True)
