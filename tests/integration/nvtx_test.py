"""NVTX ranges become marks of the session, and the program does not notice."""

import json
import os
import pickle

import pytest

from support.command import run_command, vramscope, vramscope_ok
from support.driver_log import assert_same_calls
from support.paths import BUILD
from support.simulation import preload_environment

PROGRAM = BUILD / "tests" / "integration" / "nvtx_program"
INJECTION = BUILD / "preload" / "libvramscope_nvtx.so"
MIB = 1 << 20


def ranges_of(run):
    (process,) = json.loads(vramscope_ok("report", "--json", "--top", "0", run))["processes"]
    (device,) = process["devices"]
    assert process["lost_events"] == 0
    return {(entry["domain"], entry["name"]): entry for entry in device["nvtx_ranges"]}


def figures(entry):
    return [entry[key] for key in ("kind", "times", "open", "peak_allocated_bytes", "kept_bytes")]


def assert_all_ranges(run):
    ranges = ranges_of(run)
    names = {("", f"name {number}"): ranges.pop(("", f"name {number}")) for number in range(1000)}
    assert {tuple(figures(entry)) for entry in names.values()} == {("push", 2, 0, 13 * MIB, 0)}
    assert {name: figures(entry) for name, entry in ranges.items()} == {
        ("", "setup"): ["push", 1, 0, 3 * MIB, 1 * MIB],
        ("app", "whole"): ["start", 1, 0, 13 * MIB, 13 * MIB],
        ("app", "inner"): ["push", 1, 0, 3 * MIB, 0],
        ("", "größe 東"): ["push", 1, 0, 5 * MIB, 4 * MIB],
        ("", "thread"): ["push", 1, 0, 13 * MIB, 8 * MIB],
        ("", "moment"): ["mark", 1, 0, 13 * MIB, 0],
        ("", "never closed"): ["push", 1, 1, 13 * MIB, -1 * MIB],
    }


def test_ranges_have_their_names_and_the_memory_inside(tmp_path):
    log = tmp_path / "driver.log"
    simulate = ("run", "--simulate", "h100", "-o", tmp_path / "out", "--", PROGRAM)
    plain = vramscope(*simulate, environment={"VRAMSCOPE_DISABLE": "1"})
    watched = vramscope(*simulate, environment={"VRAMSCOPE_SIM_LOG": str(log)})
    assert (watched.status, watched.stdout) == (plain.status, plain.stdout) == (0, "push -2\npush -2\npop -2\n")
    assert_all_ranges(tmp_path / "out")
    assert_same_calls(vramscope_ok("dump", tmp_path / "out"), log.read_text())
    assert "größe 東" in vramscope_ok("report", "--top", "0", tmp_path / "out")


def test_the_snapshot_has_a_pair_of_annotations_for_each(tmp_path):
    vramscope("run", "--simulate", "h100", "-o", tmp_path / "out", "--", PROGRAM)
    vramscope_ok("snapshot", tmp_path / "out", "-o", tmp_path / "s.pickle")
    annotations = pickle.loads((tmp_path / "s.pickle").read_bytes())["external_annotations"]
    times = [entry["time_us"] for entry in annotations]
    assert times == sorted(times)
    stages = {}
    for entry in annotations:
        stages.setdefault(entry["name"], []).append(entry["stage"])
    assert stages["name 7"] == ["START", "END"] * 2
    assert stages["app: whole"] == ["START", "END"]
    assert stages["never closed"] == ["START"]


def test_preloaded_without_run(tmp_path):
    environment = preload_environment(tmp_path / "session-%p", NVTX_INJECTION64_PATH=str(INJECTION))
    result = run_command([PROGRAM], environment=environment)
    assert (result.status, result.stderr) == (0, "")
    (session,) = tmp_path.glob("session-*.vrams")
    assert_all_ranges(session)


def test_ranges_alone_leave_no_file(tmp_path):
    alone = run_command([PROGRAM, "alone"])
    watched = vramscope("run", "--simulate", "h100", "-o", tmp_path / "out", "--", PROGRAM, "alone")
    assert (watched.status, watched.stdout) == (alone.status, alone.stdout)
    assert not (tmp_path / "out").exists() or os.listdir(tmp_path / "out") == []


@pytest.mark.parametrize("value", ["", "/another/tool.so"])
def test_another_tool_keeps_its_place(value, tmp_path):
    command = ("run", "-o", tmp_path, "--", "sh", "-c", 'echo "$NVTX_INJECTION64_PATH"')
    seen = vramscope(*command, environment={"NVTX_INJECTION64_PATH": value} if value else {})
    assert seen.stdout.strip() == (value or str(INJECTION))
