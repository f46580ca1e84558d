"""Stacks of real interpreters: python_stacks/program.py in every supported CPython of this machine."""

import functools
import glob
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from support.command import run_command, vramscope_ok
from support.paths import BUILD, PYTHON
from support.python_stacks import assert_stacks_are_tracebacks
from support.simulation import preload_environment

PROGRAM = pathlib.Path(__file__).resolve().parent / "python_stacks" / "program.py"
PROBE = BUILD / "tests" / "integration" / "libstacks_probe.so"
SIGNAL_CALLS = BUILD / "tests" / "integration" / "libsignal_calls.so"
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


def interpreter_or_skip(version):
    python = interpreter(version)
    if python is None and version != ALWAYS_THERE:
        pytest.skip(f"no CPython {version} on this machine")
    return python


def counts_of(printed, version):
    checks, frames, left_out = re.fullmatch(r"(\d+) checks, (\d+) frames(, no greenlets)?\n", printed).groups()
    assert version != ALWAYS_THERE or left_out is None, "build/venv lacks greenlet: run scripts/setup"
    return int(checks), int(frames)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_frame_is_what_python_says(version):
    """To the instruction and to the last byte of the line tables."""
    python = interpreter_or_skip(version)
    result = run_command([python, PROGRAM, "probe", SIGNAL_CALLS, PROBE])
    assert result.status == 0, result.describe()
    assert result.stderr == "", "a capture wrote something: Python stacks are off?"
    checks, frames = counts_of(result.stdout, version)
    assert checks > 14_000 and frames > 80_000


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_recorded_is_what_traceback_says(version, tmp_path):
    python = interpreter_or_skip(version)
    answers = tmp_path / "answers"
    environment = preload_environment(tmp_path / "session", VRAMSCOPE_VERIFY_UNWIND="1")
    result = run_command([python, PROGRAM, "driver", SIGNAL_CALLS, answers], environment)
    assert result.status == 0, result.describe()
    assert result.stderr == "", "a native stack differs from _Unwind_Backtrace's, or a capture failed"
    counts = counts_of(result.stdout, version)
    assert counts == assert_stacks_are_tracebacks(answers, tmp_path / "session.vrams")
    assert counts[0] > 7_000 and counts[1] > 50_000
    (process,) = json.loads(vramscope_ok("report", "--json", tmp_path / "session.vrams"))["processes"]
    assert process["lost_events"] == 0
