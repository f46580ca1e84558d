"""The GPU that is checked: the machine's own, or a simulated one; jobs on it; what a check found."""

import contextlib
import dataclasses
import json
import os
import pickle
import subprocess
import time

from support.paths import PYTHON, TOOL, TORCH_TESTS

HARNESS = TORCH_TESTS / "harness" / "with_history.py"
PASS, FAIL, SKIPPED = "pass", "fail", "skipped"


@dataclasses.dataclass(frozen=True)
class Outcome:
    check: str
    status: str
    detail: str
    figures: dict = dataclasses.field(default_factory=dict)


def judged(check, holds, detail, **figures):
    return Outcome(check, PASS if holds else FAIL, detail, figures)


class OutOfTime(Exception):
    pass


@dataclasses.dataclass
class Target:
    simulated: str  # empty: the machine's own GPU
    folder: object  # pathlib.Path
    deadline: float  # time.monotonic()

    def seconds_left(self):
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise OutOfTime
        return left

    def profiled(self, name, command, simulate=None, **environment):
        """Runs a job under the profiler; its folder of sessions. Raises CalledProcessError."""
        self.profiled_output(name, command, simulate, **environment)
        return self.folder / name / "sessions"

    def profiled_output(self, name, command, simulate=None, **environment):
        gpu = self.simulated if simulate is None else simulate
        sessions = self.folder / name / "sessions"
        options = [*(["--simulate", gpu] if gpu else []), "-o", sessions]
        return self.run([TOOL, "run", *options, "--", PYTHON, *command], **environment).stdout

    def run(self, command, **environment):
        """A command that must succeed."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("VRAMSCOPE_")}
        return subprocess.run(
            [str(word) for word in command],
            env={**inherited, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=self.seconds_left(),
            check=True,
        )

    def report(self, sessions):
        return json.loads(self.run([TOOL, "report", "--json", sessions]).stdout)["processes"]

    def snapshot(self, sessions):
        """Of a job of one process, as `vramscope snapshot` writes it."""
        file = sessions.parent / "snapshot.pickle"
        self.run([TOOL, "snapshot", sessions, "-o", file])
        return pickle.loads(file.read_bytes())

    def with_history(self, case, simulate=None, **environment):
        """Runs a case of tests/torch while PyTorch records itself: (sessions, PyTorch's account)."""
        name = case.name if simulate is None else f"{case.name}-simulated"
        folder = self.folder / name
        folder.mkdir(parents=True)
        if case.allocator:
            environment["PYTORCH_CUDA_ALLOC_CONF"] = case.allocator
        with contextlib.suppress(subprocess.CalledProcessError) if case.status else contextlib.nullcontext():
            self.profiled(
                name, [HARNESS, folder, TORCH_TESTS / case.script, *case.arguments], simulate, **environment
            )
        (account,) = folder.glob("torch-*.pickle")
        return folder / "sessions", pickle.loads(account.read_bytes())
