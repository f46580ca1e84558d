"""Every source file is formatted, and clang-tidy has nothing to say about what is compiled."""

import json
import os
import subprocess

import pytest

from support.paths import BUILD, ROOT

ROOMS = ("preload", "recorder", "tools", "tests")
TIMEOUT_S = 600
# Only gcc knows these options of the build.
TIDY_OPTIONS = ["--quiet", "--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-unused-command-line-argument"]


def sources(*suffixes):
    return sorted(
        str(path.relative_to(ROOT)) for room in ROOMS for path in (ROOT / room).rglob("*") if path.suffix in suffixes
    )


def compiled_sources():
    """What ninja compiles of the rooms, without what the build generated."""
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    files = {os.path.realpath(os.path.join(command["directory"], command["file"])) for command in commands}
    relative = {os.path.relpath(file, ROOT) for file in files}
    return sorted(file for file in relative if file.split("/")[0] in ROOMS and not file.endswith(".S"))


def check(*command):
    result = subprocess.run(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S
    )
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("source", sources(".cpp", ".c", ".h", ".cu"))
def test_is_formatted(source):
    check("clang-format", "--dry-run", "-Werror", source)


@pytest.mark.parametrize("source", compiled_sources())
def test_clang_tidy_finds_nothing(source):
    check("clang-tidy", *TIDY_OPTIONS, "-p", str(BUILD), source)


@pytest.mark.parametrize("script", ["setup", "demo", "test", "vramscope", "common.sh"])
def test_shell_script_parses(script):
    check("bash", "-n", f"scripts/{script}")
