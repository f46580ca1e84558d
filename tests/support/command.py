"""Runs commands as a user would, in an environment that does not depend on the tester's."""

import dataclasses
import os
import subprocess

from support.paths import TOOL
from support.sanitizer import preload_runtime

DEFAULT_TIMEOUT_S = 300
FOREIGN_VARIABLES = ("VRAMSCOPE_", "PYTORCH_", "CUDA_", "NVTX_", "LD_", "TORCH", "PYTHON", "RANK", "SLURM_", "OMPI_", "PMI_")


@dataclasses.dataclass(frozen=True)
class Result:
    status: int  # negative: killed by that signal
    stdout: str
    stderr: str

    def describe(self):
        return f"status {self.status}\n--- stdout\n{self.stdout}\n--- stderr\n{self.stderr}"


def clean_environment(extra=None):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN_VARIABLES)}
    return preload_runtime({**kept, **(extra or {})})


def run_command(command, environment=None, timeout=DEFAULT_TIMEOUT_S, cwd=None):
    finished = subprocess.run(
        [str(word) for word in command],
        env=clean_environment(environment),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout,
    )
    return Result(finished.returncode, finished.stdout, finished.stderr)


def vramscope(*arguments, **options):
    return run_command([TOOL, *arguments], **options)


def vramscope_ok(*arguments, **options):
    """The standard output of a call that must succeed."""
    result = vramscope(*arguments, **options)
    assert result.status == 0, f"vramscope {' '.join(map(str, arguments))}: {result.describe()}"
    return result.stdout
