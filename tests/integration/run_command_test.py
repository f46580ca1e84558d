"""`vramscope run` is not noticed by the job: its words, signals, descriptors and end are its own."""

import os
import signal
import subprocess
import sys
import time

import pytest

from support.command import clean_environment, vramscope
from support.paths import PRELOAD_LIBRARY, ROOT, TOOL
from support.sanitizer import runtime

ALLOCATE = ROOT / "tests" / "integration" / "allocate.py"
SHOW_WORDS = "import sys; print(sys.argv[1:])"
NOTHING_RECORDED = "vramscope: no CUDA memory call was recorded\n"


def start(*arguments, **options):
    return subprocess.Popen(
        [TOOL, "run", *map(str, arguments)],
        env=clean_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


@pytest.mark.parametrize("dashes", [["--"], []])
def test_the_jobs_words_are_unchanged(dashes, tmp_path):
    words = ["--", "-o", "x", "--help", "--version", "[a,b]", "[]", "", "a b", "'\"\\", "report", "--stacks=perl", "%h"]
    result = vramscope("run", "-o", tmp_path, *dashes, sys.executable, "-c", SHOW_WORDS, *words)
    assert (result.status, result.stdout) == (0, f"{words}\n"), result.describe()


def test_file_without_interpreter_line_is_a_shell_script(tmp_path):
    script = tmp_path / "script"
    script.write_text('echo "$0 $1"\nexit 4\n')
    script.chmod(0o755)
    result = vramscope("run", "-o", tmp_path / "out", "--", script, "x y")
    assert (result.status, result.stdout) == (4, f"{script} x y\n"), result.describe()


def test_nothing_recorded_leaves_nothing(tmp_path):
    result = vramscope("run", "-o", tmp_path / "a" / "b", "--", "true")
    assert result.stderr == NOTHING_RECORDED
    assert not (tmp_path / "a" / "b").exists()


def test_default_folder_bears_the_time(tmp_path):
    result = vramscope("run", "--simulate", "t4", "--", sys.executable, ALLOCATE, "3", "4096", cwd=tmp_path)
    (folder,) = tmp_path.iterdir()
    time.strptime(folder.name, "vramscope-%Y%m%d-%H%M%S")
    first, second = result.stderr.splitlines()
    assert first.startswith("vramscope: ") and first.endswith(f" events of 1 process in {folder.name}")
    assert second == f"vramscope: see 'vramscope report {folder.name}'"


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGINT])
def test_signals_are_passed_on(sent, tmp_path):
    job = (
        "import os, signal, sys, time\n"
        f"signal.signal({int(sent)}, lambda *_: (os.write(1, b'got it\\n'), os._exit(5)))\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)\n"
    )
    run = start("-o", tmp_path, "--", sys.executable, "-c", job)
    assert run.stdout.readline() == "ready\n"
    run.send_signal(sent)
    stdout, stderr = run.communicate(timeout=30)
    assert (run.returncode, stdout) == (5, "got it\n"), stderr


def test_terminals_interrupt_reaches_the_job_once(tmp_path):
    job = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGINT, lambda *_: os.write(1, b'interrupt\\n'))\n"
        "print('ready', flush=True)\n"
        "end = time.time() + 1\n"
        "while time.time() < end: time.sleep(0.1)\n"
    )
    # As a terminal does: the whole group, from no process. script(1) gives the group a terminal.
    quoted = "'" + job.replace("'", "'\\''") + "'"
    command = f"exec {TOOL} run -o {tmp_path / 'out'} -- {sys.executable} -c {quoted}"
    terminal = subprocess.Popen(
        ["script", "-qec", command, "/dev/null"],
        env=clean_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert terminal.stdout.readline().strip() == "ready"
    terminal.stdin.write("\x03")
    terminal.stdin.flush()
    stdout, _ = terminal.communicate(timeout=30)
    assert stdout.count("interrupt") == 1, stdout
    assert terminal.returncode == 0


def test_ignored_signals_stay_ignored(tmp_path):
    job = "import signal; print(signal.getsignal(signal.SIGHUP) is signal.SIG_IGN)"
    ignore = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)  # noqa: E731
    stdout, _ = start("-o", tmp_path, "--", sys.executable, "-c", job, preexec_fn=ignore).communicate(timeout=30)
    assert stdout == "True\n"


def test_processes_that_the_job_leaves_behind_are_named(tmp_path):
    # It records, and is still there when the shell that started it has ended.
    left = f"{sys.executable} -c 'import runpy, sys, time; sys.argv[1:] = [\"3\", \"4096\"]; runpy.run_path(\"{ALLOCATE}\"); open(\"{tmp_path}/done\", \"w\"); time.sleep(20)'"
    shell = f"{left} > /dev/null 2>&1 & while [ ! -e {tmp_path}/done ]; do sleep 0.1; done; echo $!"
    result = vramscope("run", "-o", tmp_path / "out", "--simulate", "t4", "--", "sh", "-c", shell)
    pid = int(result.stdout)
    os.kill(pid, signal.SIGKILL)
    assert result.status == 0
    assert result.stderr.splitlines()[0].startswith(f"vramscope: process {pid} still runs"), result.describe()
    assert sorted(file.suffix for file in (tmp_path / "out").iterdir()) == [".ring", ".vrams"]
    report = vramscope("report", tmp_path / "out")
    assert report.status == 0, report.describe()


def test_own_preload_is_kept_in_front(tmp_path):
    job = "import os; print(os.environ['LD_PRELOAD'])"
    environment = {"LD_PRELOAD": "libm.so.6 libdl.so.2"}
    result = vramscope("run", "-o", tmp_path, "--", sys.executable, "-c", job, environment=environment)
    expected = ":".join([*runtime(), "libm.so.6", "libdl.so.2", str(PRELOAD_LIBRARY)])
    assert result.stdout == f"{expected}\n", result.describe()


def test_disabled_job_is_simulated_and_not_recorded(tmp_path):
    job = "import ctypes, os; ctypes.CDLL('libcuda.so.1'); print('libvramscope' in os.environ['LD_PRELOAD'])"
    result = vramscope(
        "run", "-o", tmp_path / "out", "--simulate", "t4", "--", sys.executable, "-c", job,
        environment={"VRAMSCOPE_DISABLE": "1"},
    )  # fmt: skip
    assert (result.status, result.stdout, result.stderr) == (0, "False\n", "")
    assert not (tmp_path / "out").exists()


def test_statically_linked_program_is_named(tmp_path):
    static = "/sbin/ldconfig"
    if not os.path.exists(static):
        pytest.skip("no statically linked program here")
    result = vramscope("run", "-o", tmp_path, "--", static, "--version")
    assert result.stderr.splitlines()[0] == (
        f"vramscope: {static} is statically linked: nothing can be preloaded, so it is not recorded"
    )
    assert result.status == 0
