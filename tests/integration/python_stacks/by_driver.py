"""Checks what a preloaded libvramscope.so records of driver calls: writes what `traceback` says of each into a file,
one JSON list a line: number of bytes, [[name, file, line], ...] innermost first. Each number of bytes is used once."""

import ctypes
import itertools
import json
import os
import sys
import traceback

from checking import count
from signal_calls import SIGUSR2, load


def frames_of(frame):
    summary = traceback.StackSummary.extract(traceback.walk_stack(frame), limit=sys.maxsize, lookup_lines=False)
    return [(entry.name, entry.filename, entry.lineno) for entry in summary]


class DriverCheck:
    def __init__(self, signal_calls, answers):
        self.signal_calls = load(signal_calls)
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.address_of_allocate = ctypes.cast(self.driver.cuMemAlloc_v2, ctypes.c_void_p).value
        self.numbers = itertools.count(1)
        self.file = answers
        self.answers = []  # files cannot be written to by a signal handler that has interrupted just that
        self.parts = [self.dying_code]
        context = ctypes.c_void_p()
        assert self.driver.cuInit(0) == 0
        assert self.driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
        assert self.driver.cuCtxSetCurrent(context) == 0
        self.context = context

    def begin(self):
        assert self.driver.cuCtxSetCurrent(self.context) == 0  # of this thread
        return next(self.numbers), ctypes.c_uint64()

    def note(self, bytes, frames):
        self.answers.append([bytes, frames])
        count(checks=1, frames=len(frames))

    def check(self):
        bytes, address = self.begin()
        allocate, out = self.driver.cuMemAlloc_v2, ctypes.byref(address)
        result, frames = allocate(out, ctypes.c_size_t(bytes)), frames_of(sys._getframe())
        assert result == 0 and self.driver.cuMemFree_v2(address) == 0
        self.note(bytes, frames)
        return len(frames)

    def check_in_c_handler(self, on_other_stack):
        bytes, address = self.begin()
        call = (SIGUSR2, on_other_stack, self.address_of_allocate, ctypes.addressof(address), bytes)
        result, frames = self.signal_calls.call_in_handler(*call), frames_of(sys._getframe())
        assert result == 0 and self.driver.cuMemFree_v2(address) == 0
        self.note(bytes, frames)

    def dying_code(self):
        """A signal handler interrupts us at each instruction that we run while a code object dies, and allocates.
        Another code object and another stack each time: nothing of it is known before."""
        if not self.single_steps():
            return  # in a virtual machine that cannot
        begin, end = code_range("libvramscope_core.so")
        seen, chosen = 1, 0
        while chosen < seen:
            namespace = {"interrupt": self.interrupt, "begin": begin, "end": end, "chosen": chosen}
            exec(compile(f"def of_{chosen}():\n    return interrupt(begin, end, chosen)", f"<{chosen}>", "exec"), namespace)
            seen = namespace[f"of_{chosen}"]()
            chosen += 1
        assert chosen > 10, "nothing of ours was interrupted"

    def single_steps(self):
        function = ctypes.cast(ctypes.pythonapi.Py_IncRef, ctypes.c_void_p)
        return self.signal_calls.call_at_instruction(function, id(None), 0, sys.maxsize, -1, None, 0, 0) > 0

    def interrupt(self, begin, end, chosen):
        dying = compile("check()", f"<dying {chosen}>", "exec")
        exec(dying, {"check": self.check})
        code, (bytes, address) = ctypes.py_object(dying), self.begin()
        release = ctypes.cast(ctypes.pythonapi.Py_DecRef, ctypes.c_void_p)
        ctypes.pythonapi.Py_IncRef(code)  # the reference that is given up under the eyes of the handler
        pointer = id(dying)
        del dying, code
        call = (release, pointer, begin, end, chosen, self.address_of_allocate, ctypes.addressof(address), bytes)
        seen, frames = self.signal_calls.call_at_instruction(*call), frames_of(sys._getframe())
        if chosen < seen:
            assert self.signal_calls.result_of_call() == 0 and self.driver.cuMemFree_v2(address) == 0
            self.note(bytes, frames)
        return seen

    def close(self):
        with open(self.file, "w") as file:
            file.writelines(json.dumps(answer) + "\n" for answer in self.answers)


def code_range(library):
    """[begin, end) of its machine code."""
    with open("/proc/self/maps") as maps:
        for line in maps:
            addresses, access, *_, path = line.split()
            if "x" in access and os.path.basename(path) == library:
                return tuple(int(address, 16) for address in addresses.split("-"))
    raise AssertionError(f"{library} is not here: is the profiler preloaded?")
