"""Stacks of real interpreters: python_stacks_program.py in every supported CPython of this machine."""

import functools
import glob
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from support.paths import BUILD, PYTHON

HERE = pathlib.Path(__file__).resolve().parent
LIBRARY = BUILD / "tests" / "integration" / "libstacks_probe.so"
VERSIONS = ["3.9", "3.10", "3.11", "3.12", "3.13", "3.14"]
ALWAYS_THERE = "3.11"  # the version of build/venv


def answers_with(command, version):
    code = "import sys, ctypes; print('%d.%d' % sys.version_info[:2], hasattr(sys, 'gettotalrefcount'))"
    try:
        result = subprocess.run([command, "-c", code], capture_output=True, text=True, timeout=60)
    except OSError:
        return False
    return result.stdout.split() == [version, "False"]


@functools.lru_cache
def interpreter(version):
    """An interpreter of this version, or None: build/venv's, one on PATH, or one of pyenv's."""
    pyenv = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    found = [str(PYTHON), shutil.which(f"python{version}"), *sorted(glob.glob(f"{pyenv}/versions/{version}.*/bin/python"))]
    return next((command for command in found if command and answers_with(command, version)), None)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_frame_is_what_python_says(version):
    python = interpreter(version)
    if python is None and version != ALWAYS_THERE:
        pytest.skip(f"no CPython {version} on this machine")
    result = subprocess.run(
        [python, HERE / "python_stacks_program.py", LIBRARY], capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stderr[-4000:]
    assert result.stderr == "", "a capture wrote something: Python stacks are off?"
    checks, frames = map(int, re.fullmatch(r"(\d+) checks, (\d+) frames\n", result.stdout).groups())
    assert checks > 15_000 and frames > 80_000
