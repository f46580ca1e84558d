"""Sessions of jobs that end in all sorts of ways, with `vramscope run` and with LD_PRELOAD alone."""

import json
import os
import signal

import pytest

from support.command import run_command, vramscope, vramscope_ok
from support.driver_log import assert_same_calls
from support.paths import PYTHON, TORCH_TESTS
from support.simulation import preload_environment, simulation_variables

LEAVES = TORCH_TESTS / "scripts" / "leaves_abruptly.py"
TRAINS = TORCH_TESTS / "scripts" / "train_adamw.py"


def only_device(run, *options):
    (process,) = json.loads(vramscope_ok("report", "--json", *options, run))["processes"]
    assert process["lost_events"] == 0
    (device,) = process["devices"]
    return device


def assert_report_says_what_torch_printed(run, stdout):
    """`stdout` has lines of a name and a number: torch.cuda's own counters."""
    printed = dict(line.split() for line in stdout.splitlines())
    device = only_device(run)
    assert {
        "memory_allocated": device["live_bytes"],
        "max_memory_allocated": device["peak_allocated_bytes"],
        "max_memory_reserved": device["peak_reserved_bytes"],
    } == {name: int(value) for name, value in printed.items()}


def run_profiled(folder, *command, **environment):
    return vramscope(
        *("run", "--simulate", "h100", "-o", folder / "run", "--", *command),
        environment={"VRAMSCOPE_SIM_LOG": str(folder / "driver.log"), **environment},
    )


def run_preloaded(folder, *command, **environment):
    variables = preload_environment(
        folder / "run" / "%h-%p", VRAMSCOPE_SIM_LOG=str(folder / "driver.log"), **environment
    )
    (folder / "run").mkdir()
    return run_command(command, environment=variables)


@pytest.mark.parametrize(("how", "status"), [("0", 0), ("7", 7), ("kill", -signal.SIGKILL)])
@pytest.mark.parametrize("launch", [run_profiled, run_preloaded])
def test_abrupt_end_loses_nothing(launch, how, status, tmp_path):
    result = launch(tmp_path, PYTHON, LEAVES, how)
    assert result.status == status, result.describe()
    assert_report_says_what_torch_printed(tmp_path / "run", result.stdout)
    assert_same_calls(vramscope_ok("dump", tmp_path / "run"), (tmp_path / "driver.log").read_text())


def test_run_removes_the_ring_file_of_a_killed_process(tmp_path):
    run_profiled(tmp_path, PYTHON, LEAVES, "kill")
    assert [file.suffix for file in (tmp_path / "run").iterdir()] == [".vrams"]


def test_preload_alone_leaves_one_complete_session(tmp_path):
    result = run_preloaded(tmp_path, PYTHON, TRAINS, "foreach")
    assert result.status == 0, result.describe()
    assert result.stderr == ""
    assert [file.suffix for file in (tmp_path / "run").iterdir()] == [".vrams"]
    assert_same_calls(vramscope_ok("dump", tmp_path / "run"), (tmp_path / "driver.log").read_text())


def test_run_says_where_the_session_is(tmp_path):
    result = run_profiled(tmp_path, PYTHON, TRAINS, "fused")
    own_lines = [line for line in result.stderr.splitlines() if line.startswith("vramscope: ")]
    assert any(f"vramscope report {tmp_path / 'run'}" in line for line in own_lines), result.describe()


def frames_of(run):
    """Names of all frames of all blocks at the peak; native frames follow Python's."""
    return {frame["name"] for entry in only_device(run, "--native")["top"] for frame in entry["frames"]}


@pytest.mark.parametrize(
    ("stacks", "python", "native"),
    [("python,native", True, True), ("python", True, False), ("native", False, True), ("none", False, False)],
)
def test_stacks_are_those_that_were_asked_for(stacks, python, native, tmp_path):
    result = run_profiled(tmp_path, PYTHON, LEAVES, "0", VRAMSCOPE_STACKS=stacks)
    assert result.status == 0, result.describe()
    names = frames_of(tmp_path / "run")
    assert ("<module>" in names) == python
    assert any("c10" in name or "at::" in name for name in names) == native


def test_rank_is_in_the_name_and_in_the_report(tmp_path):
    result = run_profiled(tmp_path, PYTHON, LEAVES, "0", RANK="3")
    assert result.status == 0, result.describe()
    (session,) = (tmp_path / "run").iterdir()
    assert session.name.startswith("rank3-")
    (process,) = json.loads(vramscope_ok("report", "--json", session))["processes"]
    assert process["rank"] == 3


@pytest.mark.parametrize(
    ("name", "value"), [("VRAMSCOPE_RING", "abc"), ("VRAMSCOPE_STACKS", "rust"), ("VRAMSCOPE_COLOUR", "red")]
)
def test_malformed_setting_is_one_warning_and_the_job_goes_on(name, value, tmp_path):
    result = run_preloaded(tmp_path, PYTHON, LEAVES, "0", **{name: value})
    assert result.status == 0, result.describe()
    (warning,) = result.stderr.splitlines()
    assert warning.startswith(f"vramscope: {name}")
    assert_report_says_what_torch_printed(tmp_path / "run", result.stdout)


def test_every_byte_has_its_owner(tmp_path):
    result = run_profiled(tmp_path, PYTHON, TORCH_TESTS / "scripts" / "owners.py")
    assert result.status == 0, result.describe()
    printed = {name: int(value) for name, value in (line.split() for line in result.stdout.splitlines())}
    device = only_device(tmp_path / "run")
    owners = {owner["owner"]: owner["bytes"] for owner in device["owners"]}
    assert owners == printed
    assert device["peak_outside_bytes"] == 17 << 20


def test_disabled_preload_records_nothing(tmp_path):
    result = run_preloaded(tmp_path, PYTHON, LEAVES, "0", VRAMSCOPE_DISABLE="1")
    assert result.status == 0, result.describe()
    assert list((tmp_path / "run").iterdir()) == []


def test_unwritable_output_does_not_stop_the_job(tmp_path):
    (tmp_path / "file").write_text("")
    variables = preload_environment(tmp_path / "file" / "session")
    result = run_command([PYTHON, LEAVES, "5"], environment=variables)
    assert result.status == 5, result.describe()
    assert len(result.stderr.splitlines()) == 1
    assert str(tmp_path / "file") in result.stderr
    assert os.listdir(tmp_path) == ["file"]


def test_pytorchs_own_snapshot_can_be_reported_and_written_again(tmp_path):
    script = tmp_path / "dumps.py"
    script.write_text(
        "import torch\n"
        "torch.cuda.memory._record_memory_history()\n"
        "kept = [torch.ones(1 << 20, device='cuda') for _ in range(3)]\n"
        "torch.cuda.memory._dump_snapshot('torch.pickle')\n"
        "print('memory_allocated', torch.cuda.memory_allocated())\n"
    )
    result = run_command([PYTHON, script], environment=simulation_variables("h100"), cwd=tmp_path)
    assert result.status == 0, result.describe()
    assert result.stdout == "memory_allocated 12582912\n"
    assert only_device(tmp_path / "torch.pickle")["live_bytes"] == 12582912
    vramscope_ok("snapshot", tmp_path / "torch.pickle", "-o", tmp_path / "again.pickle")
    assert only_device(tmp_path / "again.pickle") == only_device(tmp_path / "torch.pickle")
