"""Every source file is formatted, and clang-tidy has nothing to say about what is compiled.

clang-tidy takes seconds a file, so what it found clean is remembered in build/lint-cache/ under a hash of all that it
looked at: the preprocessed source with its comments, the options, the checks.
"""

import functools
import hashlib
import json
import os
import shlex
import subprocess

import pytest

from support.paths import BUILD, ROOT

ROOMS = ("preload", "recorder", "tools", "tests")
CLEAN = ROOT / "build" / "lint-cache"
TIMEOUT_S = 600
# Only gcc knows some options of the build.
NO_WARNINGS_OF = ("unknown-warning-option", "unused-command-line-argument", "ignored-optimization-argument")
TIDY_OPTIONS = ["--quiet", *(f"--extra-arg=-Wno-{what}" for what in NO_WARNINGS_OF)]


def sources(*suffixes):
    return sorted(
        str(path.relative_to(ROOT)) for room in ROOMS for path in (ROOT / room).rglob("*") if path.suffix in suffixes
    )


@functools.cache
def compile_commands():
    """{source: its compile command} of what ninja compiles of the rooms, without what the build generated."""
    commands = {}
    for command in json.loads((BUILD / "compile_commands.json").read_text()):
        source = os.path.relpath(os.path.realpath(os.path.join(command["directory"], command["file"])), ROOT)
        if source.split("/")[0] in ROOMS and not source.endswith(".S"):
            commands[source] = command
    return commands


def tidy_input(source):
    """A hash of what clang-tidy's verdict depends on."""
    command = compile_commands()[source]
    compiler = shlex.split(command["command"])
    compiler = compiler[: compiler.index("-MD")] + [command["file"]]
    preprocessed = subprocess.run(
        [*compiler, "-E", "-C", "-dD"], cwd=command["directory"], capture_output=True, timeout=TIMEOUT_S, check=True
    ).stdout
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, timeout=TIMEOUT_S, check=True).stdout
    settings = (ROOT / ".clang-tidy").read_bytes() + repr((compiler, TIDY_OPTIONS)).encode()
    return hashlib.sha256(preprocessed + version + settings).hexdigest()


def check(*command):
    result = subprocess.run(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S
    )
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("source", sources(".cpp", ".c", ".h", ".cu"))
def test_is_formatted(source):
    check("clang-format", "--dry-run", "-Werror", source)


@pytest.mark.parametrize("source", sorted(compile_commands()))
def test_clang_tidy_finds_nothing(source):
    found_clean = CLEAN / tidy_input(source)
    if found_clean.exists():
        return
    check("clang-tidy", *TIDY_OPTIONS, "-p", str(BUILD), source)
    CLEAN.mkdir(exist_ok=True)
    found_clean.touch()


@pytest.mark.parametrize("script", ["setup", "bench", "demo", "test", "vramscope", "common.sh"])
def test_shell_script_parses(script):
    check("bash", "-n", f"scripts/{script}")
