"""PyTorch jobs that are killed, looked into, started by torchrun, or start processes themselves."""

import json
import pickle
import random
import time

import pytest

from support.command import vramscope, vramscope_ok
from support.driver_log import assert_kept_calls, assert_same_calls
from support.job import Job, is_running, kill, wait_until
from support.paths import PYTHON, TORCH_TESTS
from support.simulation import preload_environment

SCRIPTS = TORCH_TESTS / "scripts"


def suffixes(folder):
    return sorted(file.suffix for file in folder.iterdir())


def start_training(folder, launch):
    program = [PYTHON, SCRIPTS / "trains_for_ever.py"]
    log = {"VRAMSCOPE_SIM_LOG": str(folder / "driver.log")}
    if launch == "preload":
        (folder / "run").mkdir()
        job = Job(environment=preload_environment(folder / "run" / "%p", **log), program=program)
    else:
        job = Job(folder / "run", environment=log, program=program)
    assert job.process.stdout.readline() == "ready\n"
    return job


@pytest.mark.parametrize(("launch", "killed"), [("run", "both"), ("run", "job"), ("preload", "job")])
def test_killed_at_any_moment_leaves_a_prefix_of_each_thread(launch, killed, tmp_path):
    """tests/stress/kill.py does so hundreds of times."""
    job = start_training(tmp_path, launch)
    time.sleep(random.random())
    pid = job.pid
    if killed == "both":
        job.kill_run()
    kill(pid) if launch == "run" else job.process.kill()
    job.process.wait(timeout=60)
    wait_until(lambda: not is_running(pid), "the job ends")
    result = vramscope("recover", tmp_path / "run")
    assert result.status == 0, result.describe()
    assert suffixes(tmp_path / "run") == [".vrams"]
    lost = json.loads(vramscope_ok("report", "--json", tmp_path / "run"))["processes"][0]["lost_events"]
    assert_kept_calls(vramscope_ok("dump", tmp_path / "run"), (tmp_path / "driver.log").read_text(), lost)
    job.stop()


def test_running_job_is_looked_into_without_stopping_it(tmp_path):
    job = Job(tmp_path / "run", program=[PYTHON, SCRIPTS / "waits.py"])
    for _ in range(3):
        figures = dict(word.split("=") for word in job.process.stdout.readline().split())
        allocated, peak, reserved = map(int, figures.values())
        (process,) = json.loads(vramscope_ok("report", "--json", "--pid", job.pid))["processes"]
        (device,) = process["devices"]
        assert (device["live_bytes"], device["peak_allocated_bytes"]) == (allocated, peak)
        assert device["live_reserved_bytes"] == reserved
        assert "still runs" in process["warning"]
        vramscope_ok("snapshot", "--pid", job.pid, "-o", tmp_path / "s.pickle")
        segments = pickle.loads((tmp_path / "s.pickle").read_bytes())["segments"]
        active = [block["size"] for s in segments for block in s["blocks"] if block["state"] == "active_allocated"]
        assert (sum(active), sum(segment["total_size"] for segment in segments)) == (allocated, reserved)
        job.tell("")
    assert job.finish()[0] == 0
    assert suffixes(tmp_path / "run") == [".vrams"]


def test_ranks_of_torchrun_are_merged(tmp_path):
    torchrun = PYTHON.parent / "torchrun"
    run = ("run", "--simulate", "h100x4", "-o", tmp_path / "run")
    result = vramscope(*run, "--", torchrun, "--standalone", "--nproc-per-node", "4", SCRIPTS / "ranks.py")
    assert result.status == 0, result.describe()
    assert suffixes(tmp_path / "run") == [".vrams"] * 4
    processes = json.loads(vramscope_ok("report", "--json", tmp_path / "run"))["processes"]
    seen = [(p["rank"], d["device"], d["peak_allocated_bytes"]) for p in processes for d in p["devices"]]
    assert seen == [(rank, rank, (rank + 1) << 20) for rank in range(4)]


@pytest.mark.parametrize("launch", ["run", "preload"])
def test_each_process_has_a_session_of_its_own(launch, tmp_path):
    program = [PYTHON, SCRIPTS / "starts_processes.py"]
    log = {"VRAMSCOPE_SIM_LOG": str(tmp_path / "driver.log")}
    if launch == "run":
        job = Job(tmp_path / "run", environment=log, program=program)
    else:
        (tmp_path / "run").mkdir()
        job = Job(environment=preload_environment(tmp_path / "run" / "x-%p", **log), program=program)
    stdout, errors = job.process.communicate(timeout=300)
    assert job.process.returncode == 0, errors
    pids = [line.rpartition(" ")[2] for line in stdout.splitlines() if line.startswith("uses the GPU")]
    assert len(pids) == 4
    if launch == "preload":  # multiprocessing's children leave by os._exit, and nobody else drains
        assert vramscope("recover", tmp_path / "run").status == 0
    assert suffixes(tmp_path / "run") == [".vrams"] * 4
    assert sorted(file.stem.rpartition("-")[2] for file in (tmp_path / "run").iterdir()) == sorted(pids)
    assert_same_calls(vramscope_ok("dump", tmp_path / "run"), (tmp_path / "driver.log").read_text())
