"""What the kinds of frames call: the check that program.py has chosen."""

import threading

one_at_a_time = threading.RLock()  # a signal handler may interrupt a check and make its own
counts = {"checks": 0, "frames": 0}
_chosen = {}


def choose(**checks):
    _chosen.update(checks)


def count(checks, frames):
    counts["checks"] += checks
    counts["frames"] += frames


def check():
    """Compares the calling thread's stack with what Python says; returns how deep it is."""
    return _chosen["check"]()


def check_in_c_handler(on_other_stack):
    """The same for a stack that is captured in a signal handler written in C."""
    return _chosen["check_in_c_handler"](on_other_stack)
