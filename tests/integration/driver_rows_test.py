"""Every row of the hook table, called through the built shim and core by each route to a driver."""

import json

import pytest

from support.command import run_command, vramscope_ok
from support.differences import assert_same
from support.paths import BUILD, PRELOAD_LIBRARY, ROOT
from support.sanitizer import not_sanitized

FAKE_DRIVER = BUILD / "tests" / "integration" / "fake_driver"
ROUTES = ["plt", "dlsym", "cuGetProcAddress", "cuGetProcAddress_v2"]
RESULTS = {"success": None, "out of memory": "2"}


def hooked_functions():
    """Rows of the table but for the two resolvers, and for scopes, which are events in Python only."""
    lines = (ROOT / "preload" / "hooks" / "hook_table.txt").read_text().splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    return [symbol for symbol, _, family in rows if family not in ("resolver", "pytorch_scopes")]


def environment_of(output, result=None):
    environment = {
        "LD_PRELOAD": str(PRELOAD_LIBRARY),
        "LD_LIBRARY_PATH": str(FAKE_DRIVER),
        "VRAMSCOPE_OUTPUT": str(output),
    }
    return environment if result is None else {**environment, "FAKE_DRIVER_RESULT": result}


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
@pytest.mark.parametrize("route", ROUTES)
def test_every_row_is_recorded_exactly(route, result, tmp_path):
    program = [FAKE_DRIVER / "row_program", route]
    watched = run_command(program, environment=environment_of(tmp_path / "session", result))
    assert (watched.status, watched.stderr) == (0, ""), watched.describe()
    expected = watched.stdout.splitlines()
    # One call of each, but two of PyTorch's function for a block: it is allocated, and freed.
    assert len(expected) == len(hooked_functions()) + 1
    dumped = vramscope_ok("dump", "--blocks", tmp_path / "session.vrams").splitlines()
    recorded = [line.split("\t", 2)[2] for line in dumped if not line.startswith("#")]
    assert_same(recorded, expected, ("recorded", "expected"))


@not_sanitized(reason="the program's malloc would replace the sanitizer's")
def test_a_call_made_while_the_profiler_records_is_counted_as_lost(tmp_path):
    watched = run_command([FAKE_DRIVER / "reentrant_program"], environment=environment_of(tmp_path / "session"))
    assert (watched.status, watched.stderr) == (0, ""), watched.describe()
    inside = int(watched.stdout)
    assert inside >= 20  # a thread's first event needs memory
    (process,) = json.loads(vramscope_ok("report", "--json", tmp_path / "session.vrams"))["processes"]
    assert (process["events"], process["lost_events"]) == (21, inside)
