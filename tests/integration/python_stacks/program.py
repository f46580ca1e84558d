"""Runs in a real interpreter (3.9 and later): takes stacks in many kinds of frames, which are compared with what Python
says of itself, frame by frame.

usage: python program.py probe  LIBSIGNAL_CALLS LIBSTACKS_PROBE    compares itself: by_probe.py
       python program.py driver LIBSIGNAL_CALLS FILE               writes down what Python says: by_driver.py

Prints one line, "CHECKS checks, FRAMES frames", with ", no greenlets" if that module is missing; exits with an error
at the first difference.
"""

import sys

import depths_and_threads
import functions
import interrupted
import made_code
from by_driver import DriverCheck
from by_probe import ProbeCheck
from checking import check, choose, counts


def main(kind, *arguments):
    chosen = {"probe": ProbeCheck, "driver": DriverCheck}[kind](*arguments)
    choose(check=chosen.check, check_in_c_handler=chosen.check_in_c_handler)
    check()
    parts = [*functions.PARTS, *made_code.PARTS, *depths_and_threads.PARTS, *interrupted.PARTS, *chosen.parts]
    if interrupted.greenlet is not None:
        parts += interrupted.GREENLETS
    for part in parts:
        before = dict(counts)
        part()
        assert counts != before or part in chosen.parts, part
    for _ in range(3):
        functions.plain()  # what was interned before is still right
    chosen.close()
    left_out = ", no greenlets" if interrupted.greenlet is None else ""
    print(f"{counts['checks']} checks, {counts['frames']} frames{left_out}")


if __name__ == "__main__":
    main(*sys.argv[1:])
