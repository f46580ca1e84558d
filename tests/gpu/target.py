"""The GPU that is checked, the machine's own or a simulated one, and jobs on it."""

import dataclasses
import json
import os
import pathlib
import pickle
import subprocess
import time

from outcome import JobFailed, OutOfTime
from support.paths import PYTHON, TOOL, TORCH_TESTS

HARNESS = TORCH_TESTS / "harness" / "with_history.py"
# What would change a job's memory or what is recorded of it. All else is kept: a machine may find its driver, its
# PyTorch or its Python only by the environment.
DISTURBING = ("VRAMSCOPE_", "PYTORCH_", "TORCH_CUDNN_", "TORCH_CUBLAS", "CUBLAS_", "CUDA_LAUNCH_", "NVTX_", "RANK")
ALLOCATOR_VARIABLE = "PYTORCH_CUDA_ALLOC_CONF"  # PyTorch's older and newer versions read it


def job_environment(**more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(DISTURBING)}
    return {**kept, **more}


@dataclasses.dataclass
class Target:
    simulated: str  # empty: the machine's own GPU
    folder: pathlib.Path
    deadline: float  # time.monotonic()
    facts: dict  # of the machine, as part `machine` found them
    is_short: bool = False  # for a test of the check itself: fewer cases and rounds

    def seconds_left(self):
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise OutOfTime
        return left

    def run(self, command, **environment):
        """The standard output and error of a command that must succeed."""
        command = [str(word) for word in command]
        finished = subprocess.run(
            command,
            env=job_environment(**environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=self.seconds_left(),
        )
        if finished.returncode != 0:
            raise JobFailed(command, f"status {finished.returncode}", finished.stderr)
        return finished.stdout, finished.stderr

    def tool_command(self, sessions, command, simulate=None):
        gpu = self.simulated if simulate is None else simulate
        return [TOOL, "run", *(["--simulate", gpu] if gpu else []), "-o", sessions, "--", PYTHON, *command]

    def plain(self, command):
        """Standard output of a job that is not recorded."""
        if not self.simulated:
            return self.run([PYTHON, *command])[0]
        return self.run(self.tool_command(self.folder / "plain", command), VRAMSCOPE_DISABLE="1")[0]

    def profiled(self, name, command, simulate=None, **environment):
        """Runs a job under the profiler: (its folder of sessions, standard output, standard error)."""
        sessions = self.folder / name / "sessions"
        output = self.run(self.tool_command(sessions, command, simulate), **environment)
        return sessions, *output

    def report(self, sessions):
        """Of a job of one process."""
        (process,) = json.loads(self.run([TOOL, "report", "--json", sessions])[0])["processes"]
        return process

    def snapshot(self, sessions):
        """Of a job of one process, as `vramscope snapshot` writes it."""
        file = sessions.parent / "snapshot.pickle"
        self.run([TOOL, "snapshot", sessions, "-o", file])
        return pickle.loads(file.read_bytes())

    def with_history(self, case, simulate=None, name=None):
        """Runs a case of tests/torch while PyTorch records itself: (sessions, PyTorch's account)."""
        name = name or case.name
        folder = self.folder / name
        folder.mkdir(parents=True)
        environment = {ALLOCATOR_VARIABLE: case.allocator} if case.allocator else {}
        command = [HARNESS, folder, TORCH_TESTS / case.script, *case.arguments]
        sessions, _, stderr = self.profiled(name, command, simulate, **environment)
        accounts = list(folder.glob("torch-*.pickle"))
        if len(accounts) != 1:
            raise JobFailed(command, f"{len(accounts)} accounts of PyTorch's instead of one", stderr)
        return sessions, pickle.loads(accounts[0].read_bytes())
