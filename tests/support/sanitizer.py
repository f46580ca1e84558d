"""Builds with a sanitizer (`scripts/test --sanitizer`): their runtime goes in front of every preload of a test's
programs, and what it reports is counted, wherever the reporting process stood."""

import functools
import os
import re
import subprocess

import pytest

from support.paths import BUILD

START = BUILD / "tests" / "support" / "libsanitizer_start.so"  # only such builds have it
IS_SANITIZED = START.exists()
REPORTS = BUILD / "sanitizer-reports"

# Crashes stay what they are: tests cause some. Python frees little at its end, so leaks tell nothing.
COMMON_OPTIONS = f"log_path={REPORTS}/report:handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigill=0:handle_sigfpe=0"
OPTIONS = {
    "ASAN_OPTIONS": f"{COMMON_OPTIONS}:detect_leaks=0",
    "UBSAN_OPTIONS": f"{COMMON_OPTIONS}:halt_on_error=1:print_stacktrace=1",
    # Of what uninstrumented code does it sees accesses and not all synchronisation: Python's.
    "TSAN_OPTIONS": f"{COMMON_OPTIONS}:die_after_fork=0:ignore_noninstrumented_modules=1:history_size=4",
}

not_sanitized = functools.partial(pytest.mark.skipif, IS_SANITIZED)


@functools.cache
def runtime():
    """What a program must preload before anything else."""
    if not IS_SANITIZED:
        return []
    needed = subprocess.run(["readelf", "-d", START], capture_output=True, text=True, check=True).stdout
    return [*re.findall(r"NEEDED.*\[(lib[at]san\.so\S*)\]", needed), str(START)]


def preload_runtime(environment):
    """The same environment, with the runtime in front of its LD_PRELOAD."""
    if not IS_SANITIZED:
        return environment
    others = [name for name in re.split("[: ]", environment.get("LD_PRELOAD", "")) if name and name not in runtime()]
    return {**environment, "LD_PRELOAD": ":".join([*runtime(), *others])}


def start_reports():
    """Before the first suite."""
    os.environ.update(OPTIONS)
    REPORTS.mkdir(parents=True, exist_ok=True)
    for report in REPORTS.iterdir():
        report.unlink()


def reports():
    return sorted(REPORTS.iterdir()) if REPORTS.is_dir() else []
