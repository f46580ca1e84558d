"""The programs of this folder, as built, and what they used while they ran."""

import dataclasses
import os
import subprocess
import time

from support.command import clean_environment
from support.paths import BUILD

FOLDER = BUILD / "tests" / "bench"
GENERATOR = FOLDER / "session_generator"


@dataclasses.dataclass(frozen=True)
class Use:
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    output: str


def use_of(command, environment=None):
    """Runs a command; its time and its peak resident memory."""
    start = time.monotonic()
    process = subprocess.Popen(
        [str(word) for word in command],
        env=clean_environment(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: status {process.returncode}")
    cpu_seconds = usage.ru_utime + usage.ru_stime
    return Use(time.monotonic() - start, cpu_seconds, usage.ru_maxrss * 1024, output)
