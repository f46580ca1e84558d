"""Whatever kills a job or `vramscope run`: nothing that was recorded is lost, and the job never notices."""

import json
import os
import signal
import sys

import pytest

from support.command import run_command, vramscope, vramscope_ok
from support.driver_log import assert_kept_calls, assert_same_calls
from support.job import Job, is_running, kill, wait_until
from support.paths import TOOL
from support.simulation import preload_environment


@pytest.fixture
def job(tmp_path):
    """Under `vramscope run`, with the driver's log in driver.log."""
    started = Job(tmp_path / "run", environment={"VRAMSCOPE_SIM_LOG": str(tmp_path / "driver.log")})
    yield started
    started.stop()


def suffixes(folder):
    return sorted(file.suffix for file in folder.iterdir())


def lost_events(*run):
    (process,) = json.loads(vramscope_ok("report", "--json", *run))["processes"]
    return process["lost_events"]


def served(folder):
    return (folder / "driver.log").read_text()


def test_run_and_job_killed_leave_what_recover_completes(job, tmp_path):
    job.do("threads 3 200")
    job.do("forever 2")
    kill(job.kill_run())
    run = tmp_path / "run"
    assert ".ring" in suffixes(run)
    left = vramscope_ok("dump", run)
    result = vramscope("recover", run)
    assert (result.status, result.stdout) == (0, ""), result.describe()
    assert suffixes(run) == [".vrams"]
    recovered = vramscope_ok("dump", run)
    assert recovered == left
    assert_kept_calls(recovered, served(tmp_path), lost_events(run))
    again = vramscope("recover", run)
    assert (again.status, again.stderr) == (0, f"vramscope: {run}: nothing is left to recover\n")


def test_recover_into_another_folder_leaves_the_first_as_it_is(job, tmp_path):
    job.do("alloc 100 4096")
    kill(job.kill_run())
    run, out = tmp_path / "run", tmp_path / "out"
    before = {file.name: file.read_bytes() for file in run.iterdir()}
    (ring,) = (file for file in run.iterdir() if file.suffix == ".ring")
    result = vramscope("recover", ring, "-o", out)
    assert result.status == 0, result.describe()
    assert {file.name: file.read_bytes() for file in run.iterdir()} == before
    assert suffixes(out) == [".vrams"]
    assert_same_calls(vramscope_ok("dump", out), served(tmp_path))


def test_living_process_is_not_recovered_but_read(job, tmp_path):
    job.do("alloc 100 4096")
    result = vramscope("recover", tmp_path / "run")
    assert result.status == 2
    assert f"process {job.pid} still runs; see 'vramscope report --pid {job.pid}'" in result.stderr
    assert_same_calls(vramscope_ok("dump", "--pid", job.pid), served(tmp_path))
    (process,) = json.loads(vramscope_ok("report", "--json", "--pid", job.pid))["processes"]
    assert process["devices"][0]["live_bytes"] == 50 * 4096
    job.do("alloc 10 4096")
    (process,) = json.loads(vramscope_ok("report", "--json", "--pid", job.pid))["processes"]
    assert process["devices"][0]["live_bytes"] == 55 * 4096
    assert job.finish()[0] == 0
    assert suffixes(tmp_path / "run") == [".vrams"]


def test_process_that_records_is_read_as_a_prefix(job, tmp_path):
    job.do("alloc 1 4096")
    job.tell("threads 3 3000")
    for _ in range(3):
        dump = vramscope_ok("dump", "--pid", job.pid)
        log = served(tmp_path)
        assert_kept_calls(dump, log, lost_events("--pid", job.pid), may_miss=None)
    vramscope_ok("snapshot", "--pid", job.pid, "-o", tmp_path / "s.pickle")
    assert job.process.stdout.readline() == "done\n"


def test_pid_of_nobody_is_named():
    result = vramscope("report", "--pid", "999999999")
    assert (result.status, result.stderr) == (2, "vramscope: process 999999999: does not run\n")
    result = vramscope("report", "--pid", os.getpid())
    assert result.status == 2
    assert result.stderr == (
        f"vramscope: process {os.getpid()}: is not recorded, or has made no CUDA memory call yet\n"
    )
    assert vramscope("report", "--pid", "1", "run").status == 2


def test_recover_says_what_it_cannot_use(tmp_path):
    (tmp_path / "x.ring").write_text("no ring file")
    for given, message in [
        (tmp_path / "none", "is no ring file (*.ring) and no folder"),
        (tmp_path / "none.ring", "cannot be opened: No such file or directory"),
        (tmp_path / "x.ring", "ends within the header of a ring file"),
    ]:
        result = vramscope("recover", given)
        assert (result.status, result.stdout) == (2, ""), result.describe()
        (line,) = result.stderr.splitlines()
        assert message in line and str(given) in line, line


def test_run_killed_alone_is_not_noticed_by_the_job(job, tmp_path):
    job.do("alloc 100 4096")
    pid = job.kill_run()
    # More than its ring holds.
    job.do("threads 2 12000")
    assert is_running(pid)
    job.tell("call _exit 0")
    wait_until(lambda: not is_running(pid), "the job ends")
    run = tmp_path / "run"
    recovered = vramscope("recover", run)
    assert recovered.status == 0, recovered.describe()
    assert suffixes(run) == [".vrams"]
    (process,) = json.loads(vramscope_ok("report", "--json", run))["processes"]
    calls = len([line for line in served(tmp_path).splitlines() if not line.startswith("#")])
    assert process["events"] + process["lost_events"] == calls


def test_run_killed_alone_the_job_completes_its_session(job, tmp_path):
    job.do("alloc 100 4096")
    pid = job.kill_run()
    job.do("alloc 30 4096")
    job.process.stdin.close()  # ends by exit
    wait_until(lambda: not is_running(pid), "the job ends")
    assert suffixes(tmp_path / "run") == [".vrams"]
    assert_same_calls(vramscope_ok("dump", tmp_path / "run"), served(tmp_path))


ENDS = {
    "_exit": ("call _exit 7", 7),
    "abort": ("call abort", -signal.SIGABRT),
    "segmentation fault": (f"call kill 0 {int(signal.SIGSEGV)}", -signal.SIGSEGV),
    "killed": (f"call kill 0 {int(signal.SIGKILL)}", -signal.SIGKILL),
}


@pytest.mark.parametrize("launch", ["run", "preload"])
@pytest.mark.parametrize(("command", "status"), ENDS.values(), ids=ENDS)
def test_abrupt_end_loses_nothing(command, status, launch, tmp_path):
    log = {"VRAMSCOPE_SIM_LOG": str(tmp_path / "driver.log")}
    if launch == "run":
        job = Job(tmp_path / "run", environment=log)
    else:
        (tmp_path / "run").mkdir()
        job = Job(environment=preload_environment(tmp_path / "run" / "%p", **log))
    job.do("threads 2 300")
    job.tell(command.replace("kill 0", f"kill {job.pid}"))
    assert job.end()[0] == status
    assert_same_calls(vramscope_ok("dump", tmp_path / "run"), served(tmp_path))
    if launch == "run":
        assert suffixes(tmp_path / "run") == [".vrams"]
    else:
        result = vramscope("recover", tmp_path / "run")
        assert result.status == 0, result.describe()
        assert suffixes(tmp_path / "run") == [".vrams"]
        assert_same_calls(vramscope_ok("dump", tmp_path / "run"), served(tmp_path))


def test_program_that_is_executed_has_a_session_of_its_own(job, tmp_path):
    job.do("alloc 100 4096")
    job.tell("execute")
    job.do("alloc 40 4096")
    assert job.finish()[0] == 0
    assert suffixes(tmp_path / "run") == [".vrams", ".vrams"]
    assert_same_calls(vramscope_ok("dump", tmp_path / "run"), served(tmp_path))


def test_forked_child_has_a_session_of_its_own(job, tmp_path):
    job.do("alloc 100 4096")
    job.do("fork")
    job.do("alloc 10 4096")
    assert job.finish()[0] == 0
    assert suffixes(tmp_path / "run") == [".vrams", ".vrams"]
    assert_same_calls(vramscope_ok("dump", tmp_path / "run"), served(tmp_path))


def test_empty_options_are_errors():
    for option in ("-o", "--stacks", "--ring", "--overflow"):
        result = vramscope("run", option, "", "--", "true")
        assert (result.status, result.stdout) == (2, ""), result.describe()
        (line,) = result.stderr.splitlines()
        assert line.startswith(f"vramscope: {option}")


def test_job_whose_parent_ignores_its_children_ends():
    ignores = "import signal, os, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    command = [sys.executable, "-c", ignores]
    shows = "import signal; print(signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN)"
    result = run_command([*command, TOOL, "run", "--", sys.executable, "-c", shows], timeout=60)
    assert (result.status, result.stdout) == (0, "True\n"), result.describe()
