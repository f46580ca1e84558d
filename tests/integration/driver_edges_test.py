"""Calls at unusual moments: before our constructor and after our destructor, in signal handlers, in threads that end
at once, past us. The job notices nothing, and what is recorded is what the driver served."""

import json

import pytest

from support.command import run_command, vramscope_ok
from support.driver_log import assert_same_calls, parse
from support.paths import BUILD, PRELOAD_LIBRARY
from support.sanitizer import not_sanitized
from support.simulation import preload_environment

EDGES = BUILD / "tests" / "integration" / "edges"
EARLY_AND_LATE = EDGES / "libearly_and_late.so"
DEEP_LIBRARY = EDGES / "libdeep_library.so"


class Run:
    """A program watched with plain LD_PRELOAD, and the same unwatched."""

    def __init__(self, command, folder, preload=lambda ours, rest: f"{ours}:{rest}", **variables):
        self.log = folder / "driver.log"
        self.session = folder / "session.vrams"
        self.environment = preload_environment(
            folder / "session", gpu="h100x2", DEEP_LIBRARY=str(DEEP_LIBRARY), **variables
        )
        ours, _, rest = self.environment["LD_PRELOAD"].partition(":")
        self.environment["LD_PRELOAD"] = preload(ours, rest)
        self.plain = run_command(command, environment={**self.environment, "VRAMSCOPE_DISABLE": "1"})
        self.watched = run_command(command, environment={**self.environment, "VRAMSCOPE_SIM_LOG": str(self.log)})
        assert self.plain.status == 0, self.plain.describe()
        assert (self.watched.status, self.watched.stdout) == (self.plain.status, self.plain.stdout)

    def dump(self):
        return vramscope_ok("dump", self.session)

    def calls(self, text):
        return sum(len(calls) for calls in parse(text).values())


@pytest.mark.parametrize("mode", ["threads", "signals", "callback", "null"])
def test_every_call_is_recorded(mode, tmp_path):
    run = Run([EDGES / "edge_program", mode], tmp_path)
    assert run.watched.stderr == run.plain.stderr
    assert_same_calls(run.dump(), run.log.read_text())
    (process,) = json.loads(vramscope_ok("report", "--json", run.session))["processes"]
    assert (process["lost_events"], process["finished"]) == (0, True)


@pytest.mark.parametrize("is_first", [True, False], ids=["loaded before us", "loaded after us"])
def test_constructors_and_destructors_of_others_are_recorded(is_first, tmp_path):
    def preload(ours, rest):
        pair = [EARLY_AND_LATE, ours] if is_first else [ours, EARLY_AND_LATE]
        return ":".join(map(str, [*pair, rest]))

    run = Run(["/bin/true"], tmp_path, preload)
    assert run.watched.stderr == ""
    assert run.calls(run.log.read_text()) == 7  # a context, three allocations, three frees
    assert_same_calls(run.dump(), run.log.read_text())


@not_sanitized(reason="a sanitizer refuses RTLD_DEEPBIND")
def test_what_passes_us_is_said_in_one_line(tmp_path):
    run = Run([EDGES / "edge_program", "deepbind"], tmp_path)
    (line,) = run.watched.stderr.splitlines()
    assert line.startswith(f"vramscope: {DEEP_LIBRARY}: was loaded with RTLD_DEEPBIND")
    served = run.calls(run.log.read_text())
    assert (served, run.calls(run.dump())) == (6, 3)  # each: a context, an allocation, its free
    assert run.plain.stderr == ""


@not_sanitized(reason="a sanitizer refuses RTLD_DEEPBIND")
@pytest.mark.parametrize("log, lines", [("warn", 1), ("off", 0)])
def test_it_is_said_where_everything_passes_us(log, lines, tmp_path):
    run = Run([EDGES / "edge_program", "deepbind-only"], tmp_path, VRAMSCOPE_LOG=log)
    assert run.watched.stderr.count("was loaded with RTLD_DEEPBIND") == lines
    assert run.watched.stderr.count("\n") == lines
    assert not run.session.exists()


@not_sanitized(reason="a sanitizer's own dlopen is the caller")
def test_dlopen_still_follows_its_callers_runpath():
    command = ["python3", "-c", f"import ctypes; print(ctypes.CDLL('{EDGES}/librunpath_library.so').find_neighbour())"]
    alone = run_command(command)
    assert alone.stdout == "1\n", alone.describe()
    assert run_command(command, environment={"LD_PRELOAD": str(PRELOAD_LIBRARY)}) == alone
