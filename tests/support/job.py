"""A job that is told what to do while tests look at it."""

import os
import pathlib
import select
import signal
import subprocess
import sys
import time

from support.command import clean_environment
from support.paths import ROOT, TOOL

COMMANDED = ROOT / "tests" / "integration" / "commanded.py"
PATIENCE_S = 60


def wait_until(condition, what):
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, f"not within {PATIENCE_S} s: {what}"
        time.sleep(0.01)


class Job:
    """`commanded.py`, or another program that answers each line on its input by a line; under `vramscope run`,
    or with the given environment alone."""

    def __init__(self, output=None, options=(), environment=None, program=(sys.executable, COMMANDED), simulate="h100"):
        command = [*map(str, program)]
        if output is not None:
            command = [str(TOOL), "run", "--simulate", simulate, "-o", str(output), *options, "--", *command]
        self.is_run = output is not None
        self.process = subprocess.Popen(
            command,
            env=clean_environment(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def tell(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def ask(self, command, patience_s=PATIENCE_S):
        """The answer to a command that the job survives."""
        self.tell(command)
        ready, _, _ = select.select([self.process.stdout], [], [], patience_s)
        assert ready, f"no answer to {command!r}"
        return self.process.stdout.readline()

    def do(self, command):
        answer = self.ask(command)
        assert answer == "done\n", (command, answer, self.process.poll())

    @property
    def pid(self):
        """Of the job itself."""
        if not self.is_run:
            return self.process.pid
        wait_until(lambda: children_of(self.process.pid), "`run` starts the job")
        return children_of(self.process.pid)[0]

    def end(self):
        """Its status and standard error, once it has ended by itself."""
        _, errors = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, errors

    def finish(self):
        """Lets it end by exit; its status and standard error."""
        self.process.stdin.close()
        errors = self.process.stderr.read()
        return self.process.wait(timeout=PATIENCE_S), errors

    def stop(self):
        """For the end of a test: whatever still reads commands ends when there are none."""
        self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()
        self.process.wait()

    def kill_run(self):
        """Kills `vramscope run` alone; returns the job's process id."""
        pid = self.pid
        self.process.kill()
        self.process.wait()
        return pid


def children_of(pid):
    children = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[1]) == pid:
            children.append(int(stat.parent.name))
    return sorted(children)


def is_running(pid):
    """False once its last thread is gone, whether or not somebody has asked for its status yet."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
        with open(f"/proc/{pid}/stat") as status:
            is_zombie = status.read().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
    return len(threads) > 1 or not is_zombie


def kill(pid):
    """Nobody may be its parent any more."""
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_running(pid), f"process {pid} ends")
