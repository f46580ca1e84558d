"""What a kernel or a container may refuse, asked before a test needs it."""

import functools
import subprocess
import sys

# As PyTorch does with expandable segments: the child takes a descriptor of its parent.
TAKE_DESCRIPTOR = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
PIDFD_OPEN, PIDFD_GETFD = 434, 438
process = libc.syscall(PIDFD_OPEN, os.getppid(), 0)
taken = libc.syscall(PIDFD_GETFD, process, 0, 0) if process >= 0 else -1
print("" if taken >= 0 else os.strerror(ctypes.get_errno()))
"""


@functools.cache
def why_no_descriptor_of_others():
    """Empty where a process may take a descriptor of another one of the same user."""
    result = subprocess.run(
        [sys.executable, "-c", TAKE_DESCRIPTOR],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return result.stdout.strip()
