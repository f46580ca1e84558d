"""Checks what libstacks_probe.so captures, to the last instruction and byte of the line tables."""

import ctypes
import sys
import threading

from checking import count, one_at_a_time
from depths_and_threads import with_recursion_limit
from made_code import run_source
from signal_calls import SIGUSR2, load

address_to_line = ctypes.pythonapi.PyCode_Addr2Line
address_to_line.argtypes = [ctypes.py_object, ctypes.c_int]


def line_table(code):
    return code.co_linetable if sys.version_info >= (3, 10) else code.co_lnotab


def text(hexadecimal):
    return bytes.fromhex(hexadecimal).decode("utf-8")


def as_recorded(string):
    """Lone surrogates have no UTF-8: U+FFFD stands for each. At most 65,535 bytes are kept."""
    valid = "".join("\ufffd" if 0xD800 <= ord(c) < 0xE000 else c for c in string)
    return valid.encode()[:65535].decode(errors="ignore")


def expected_frames(frame):
    frames = []
    while frame is not None:
        frames.append((frame.f_code, frame.f_lasti, frame.f_lineno))
        frame = frame.f_back
    return frames


def compare(captured, frames):
    lines = captured.decode().splitlines()
    assert len(lines) == len(frames), (lines, frames)
    for depth, (line, (code, lasti, lineno)) in enumerate(zip(lines, frames)):
        name, qualified, filename, table, first_line, instruction, minor, read_line = line.split(" ")
        qualified_name = getattr(code, "co_qualname", code.co_name)
        got = (text(name), text(qualified), text(filename), bytes.fromhex(table), int(first_line))
        want = (code.co_name, qualified_name, code.co_filename, line_table(code), code.co_firstlineno)
        want = tuple(as_recorded(item) if isinstance(item, str) else item for item in want)
        assert got == want, (depth, got, want)
        assert int(minor) == sys.version_info[1]
        assert address_to_line(code, int(instruction)) == lineno, (depth, instruction, lineno, code)
        assert int(read_line) == lineno, (depth, read_line, lineno, code)
        # The innermost frame asked for its own position some instructions later, on the same line.
        # -1: it has not begun its first one (before 3.11).
        assert depth == 0 or int(instruction) == lasti % (1 << 32), (depth, instruction, lasti, code)
    count(checks=1, frames=len(frames))


class ProbeCheck:
    def __init__(self, signal_calls, library):
        # CDLL gives the GIL up around each call, PyDLL keeps it: the walk must do without it.
        self.without_gil = ctypes.CDLL(library)
        self.with_gil = ctypes.PyDLL(library)
        for probe in (self.without_gil, self.with_gil):
            probe.stacks_probe_python.restype = ctypes.c_char_p
        self.in_handler = load(signal_calls, result_type=ctypes.c_char_p).call_in_handler
        self.parts = [self.deepest_recursion, self.busy_threads]

    def check(self):
        for library in (self.with_gil, self.without_gil):
            with one_at_a_time:
                captured, frames = library.stacks_probe_python(), expected_frames(sys._getframe())
            compare(captured, frames)
        return len(frames)

    def check_in_c_handler(self, on_other_stack):
        probe = self.without_gil.stacks_probe_python
        with one_at_a_time:
            captured, frames = self.in_handler(SIGUSR2, on_other_stack, probe, 0, 0), expected_frames(sys._getframe())
        compare(captured, frames)

    def deepest_recursion(self):
        def down(depth):
            if depth:
                return down(depth - 1)
            return self.with_gil.stacks_probe_python().decode().splitlines()

        with with_recursion_limit(6000):
            lines = down(5000)
        assert len(lines) == 4096 + 1 and lines[-1] == "truncated", len(lines)

    def close(self):
        pass

    def busy_threads(self):
        """Walks without the GIL while other threads run, make and free code."""
        stop = threading.Event()

        def churn():
            i = 0
            while not stop.is_set():
                run_source(f"def g{i % 100}():\n    return [j for j in range(10)]\ng{i % 100}()", "<churn>")
                i += 1

        def probe(depth):
            if depth:
                return probe(depth - 1)
            depths = set()
            for _ in range(2000):
                depths.add(self.without_gil.stacks_probe_depth())
            return depths

        churners = [threading.Thread(target=churn) for _ in range(3)]
        for churner in churners:
            churner.start()
        try:
            here = len(expected_frames(sys._getframe()))
            assert probe(20) == {here + 21}
        finally:
            stop.set()
            for churner in churners:
                churner.join()
