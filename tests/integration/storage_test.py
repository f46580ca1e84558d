"""Disks that are full, gone or strange: a warning, the job goes on, and what was lost is counted."""

import contextlib
import json
import resource
import shutil
import subprocess
import sys

import pytest

from support.command import clean_environment, vramscope_ok
from support.driver_log import assert_same_calls
from support.job import COMMANDED, Job
from support.paths import BUILD
from support.simulation import preload_environment

NO_SHARED_MAPPINGS = BUILD / "tests" / "integration" / "libno_shared_mappings.so"
ROUNDS = 30_000  # two calls each; a ring holds 16,384


@contextlib.contextmanager
def small_file_system(folder, size):
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("mounting a tmpfs is not allowed here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def jobs_account(run):
    (process,) = json.loads(vramscope_ok("report", "--json", run))["processes"]
    return process["events"], process["lost_events"]


def served_calls(folder):
    lines = (folder / "driver.log").read_text().splitlines()
    return [line for line in lines if not line.startswith("#")]


def own_lines(errors):
    return [line for line in errors.splitlines() if line.startswith("vramscope: ")]


@pytest.mark.parametrize("launch", ["run", "preload"])
def test_full_disk_is_a_warning_and_losses_are_counted(launch, tmp_path):
    log = {"VRAMSCOPE_SIM_LOG": str(tmp_path / "driver.log"), "VRAMSCOPE_STACKS": "none"}
    with small_file_system(tmp_path / "disk", "1500k") as disk:
        if launch == "run":
            job = Job(disk / "out", environment=log)
        else:
            job = Job(environment=preload_environment(disk / "out" / "%p", **log))
        job.do("alloc 10 4096")
        with contextlib.suppress(OSError), (disk / "rest").open("wb", buffering=0) as rest:
            while rest.write(b"x" * 4096):
                pass
        job.do(f"threads 1 {ROUNDS}")
        status, errors = job.finish()
        assert status == 0
        events, lost = jobs_account(disk / "out")
        assert events + lost == len(served_calls(tmp_path))
        assert lost > 0
        text = vramscope_ok("report", disk / "out")
        assert f"{lost:,} events found no room" in text
    assert any("No space left on device" in line for line in own_lines(errors)), errors


def test_limit_of_a_files_size_is_named(tmp_path):
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))  # noqa: E731
    environment = clean_environment(preload_environment(tmp_path / "out" / "%p"))
    result = subprocess.run(
        [sys.executable, COMMANDED], env=environment, input="alloc 3 4096\n", capture_output=True, text=True, preexec_fn=limit
    )
    assert (result.returncode, result.stdout) == (0, "done\n"), result.stderr
    (line,) = result.stderr.splitlines()
    assert line.endswith("it would exceed the limit of a file's size (ulimit -f); this process is not recorded"), line


def test_folder_deleted_during_the_run_is_said(tmp_path):
    job = Job(tmp_path / "run")
    job.do("alloc 10 4096")
    shutil.rmtree(tmp_path / "run")
    job.do("alloc 10 4096")
    status, errors = job.finish()
    assert status == 0
    assert any("was deleted while" in line for line in own_lines(errors)), errors
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("launch", ["run", "preload"])
def test_file_system_without_shared_mappings(launch, tmp_path):
    (tmp_path / "run").mkdir()
    special = {"NO_SHARED_MAPPINGS": str(tmp_path / "run"), "VRAMSCOPE_SIM_LOG": str(tmp_path / "driver.log")}
    if launch == "run":
        job = Job(tmp_path / "run", environment={"LD_PRELOAD": str(NO_SHARED_MAPPINGS), **special})
    else:
        environment = preload_environment(tmp_path / "run" / "%p", **special)
        environment["LD_PRELOAD"] += f":{NO_SHARED_MAPPINGS}"
        job = Job(environment=environment)
    job.do("threads 2 1000")
    status, errors = job.finish()
    assert status == 0
    assert any("has no shared memory mappings" in line for line in own_lines(errors)), errors
    assert [file.suffix for file in (tmp_path / "run").iterdir()] == [".vrams"]
    assert_same_calls(vramscope_ok("dump", tmp_path / "run"), (tmp_path / "driver.log").read_text())


def test_small_shared_memory_of_a_container(tmp_path):
    """As /dev/shm has there, with rings in it: the first thread's fits, no other one does."""
    log = {"VRAMSCOPE_SIM_LOG": str(tmp_path / "driver.log"), "VRAMSCOPE_STACKS": "none"}
    with small_file_system(tmp_path / "shm", "64m") as shm:
        job = Job(shm / "out", options=("--ring", "32MiB"), environment=log)
        job.do("alloc 10 4096")
        job.do("threads 64 20")
        pid = job.pid
        status, errors = job.finish()
        assert status == 0
        events, lost = jobs_account(shm / "out")
    threads = [line.split("\t")[1] for line in served_calls(tmp_path)]
    assert events == threads.count(str(pid))
    assert lost == len(threads) - events > 0
    assert any("no room for another thread's ring" in line for line in own_lines(errors)), errors
