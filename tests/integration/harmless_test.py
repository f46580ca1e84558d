"""A program that never uses CUDA does not notice the preload, and leaves no file."""

import os

import pytest

from support.command import run_command, vramscope
from support.paths import PRELOAD_LIBRARY, ROOT

PROGRAMS = {
    "true": ["/bin/true"],
    "false": ["/bin/false"],
    "bash": ["bash", "-c", "for i in 1 2 3; do echo $i | cat; done; exit 4"],
    "git": ["git", "-C", str(ROOT), "log", "-1", "--format=%H"],
    "python": ["python3", "-c", "import ctypes, subprocess; print(subprocess.check_output(['uname']))"],
    "missing file": ["cat", "/no/such/file"],
}
each_program = pytest.mark.parametrize("command", PROGRAMS.values(), ids=PROGRAMS)


@each_program
def test_preload_is_not_noticed(command, tmp_path):
    alone = run_command(command, cwd=tmp_path)
    watched = run_command(command, environment={"LD_PRELOAD": str(PRELOAD_LIBRARY)}, cwd=tmp_path)
    assert watched == alone
    assert os.listdir(tmp_path) == []


@each_program
def test_run_leaves_no_session(command, tmp_path):
    alone = run_command(command)
    watched = vramscope("run", "--simulate", "h100", "-o", tmp_path / "out", "--", *command)
    assert (watched.status, watched.stdout) == (alone.status, alone.stdout)
    assert not (tmp_path / "out").exists() or os.listdir(tmp_path / "out") == []
