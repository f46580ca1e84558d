"""scripts/gpu-check from its archive in a folder of its own, on the simulated GPU; its parts' comparisons by hand."""

import json
import os
import re
import subprocess

import pytest

import agreement
import isolation
import outcome
import parity
from support.command import run_command
from support.job import is_running, wait_until
from support.paths import PYTHON, ROOT

MIB = 1 << 20
NO_LIMIT = "20"  # this machine may be busy
one_worker = pytest.mark.xdist_group("gpu-check")


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gpu-check")
    archive = folder / "archive.tar.gz"
    packed = run_command([ROOT / "scripts" / "gpu-check", "--pack", archive])
    assert packed.status == 0, packed.describe()
    assert int(re.search(r": (\d+) MiB of binaries", packed.stdout)[1]) <= 64
    assert 0 < archive.stat().st_size < 64 * MIB
    subprocess.run(["tar", "-xzf", archive, "-C", folder], check=True)
    return folder


def check(folder, *options):
    """(status, JSON, lines) of a short check, on the simulated GPU, in a folder of its own."""
    settings = ("--simulate", "h100", "--short", "--patience", NO_LIMIT, "--output", "out.json")
    result = run_command(
        ["scripts/gpu-check", *settings, *options], {"GPU_CHECK_PYTHON": str(PYTHON)}, timeout=600, cwd=folder
    )
    assert result.status in (0, 1), result.describe()
    return result.status, json.loads((folder / "out.json").read_text()), result.stdout.splitlines()


@one_worker
def test_archive_holds_the_libraries_that_the_tool_needs(unpacked):
    tool = unpacked / "build" / "release" / "tools" / "cli" / "vramscope"
    found = run_command(["ldd", tool]).stdout
    for library in ("libdw.so.1", "libelf.so.1", "liblzma.so.5", "libbz2.so.1.0"):
        assert f"{library} => {tool.parent}/lib/{library}" in found, found


@one_worker
def test_short_check_from_the_archive(unpacked):
    status, result, lines = check(unpacked)
    assert status == 0, lines
    outcomes = {entry["check"]: entry for entry in result["outcomes"]}
    assert {name: entry["status"] for name, entry in outcomes.items()} == {
        "machine": "pass",
        "parity: cuda_graph": "pass",
        "CUPTI audit": "skipped",
        "invisible memory: context": "pass",
        "invisible memory: tensor": "pass",
        "invisible memory: cublas": "pass",
        "invisible memory: nccl": "pass",
        "invisible memory: NVML against the recording": "pass",
        "agreement: cuda_graph": "skipped",
        "overhead: against PyTorch, all": "skipped",
        "overhead: against PyTorch, python": "skipped",
        "overhead: a training step": "skipped",
    }
    assert (result["passed"], result["failed"], result["skipped"]) == (7, 0, 5)
    assert all(entry["compared"] > 0 for entry in outcomes.values() if entry["status"] == "pass")
    events = outcomes["parity: cuda_graph"]["figures"]["events"]
    assert events > 100
    assert outcomes["agreement: cuda_graph"]["figures"]["agreeing_prefix"] > 0
    assert outcomes["agreement: cuda_graph"]["figures"]["matching_share"] == 1
    assert outcomes["invisible memory: context"]["figures"]["invisible_bytes"] == 512 * MIB
    assert outcomes["overhead: against PyTorch, all"]["compared"] == 4
    assert "not supported by the simulated GPU" in outcomes["CUPTI audit"]["detail"]
    assert [part["part"] for part in result["parts"]] == [
        *("machine", "parity", "cupti", "invisible", "agreement", "overhead")
    ]
    assert result["simulated"] == "h100" and result["facts"]["torch"]
    assert sum(line.startswith(("pass ", "skipped ")) for line in lines) == 12
    assert lines[-1].startswith("7 passed, 0 failed, 5 skipped in ")


@one_worker
def test_a_part_that_breaks_fails_alone(unpacked):
    part = unpacked / "tests" / "gpu" / "cupti.py"
    whole = part.read_text()
    part.write_text("import sys\nsys.exit('broken on purpose')\n")
    try:
        status, result, lines = check(unpacked, "--only", "cupti,invisible")
    finally:
        part.write_text(whole)
    statuses = {entry["check"]: entry["status"] for entry in result["outcomes"]}
    assert status == 1
    assert statuses.pop("cupti") == "fail"
    assert set(statuses.values()) == {"pass"} and "invisible memory: tensor" in statuses
    assert "FAIL     cupti: ended with status 1: broken on purpose" in lines
    assert result["parts"][1]["stderr_tail"] == "broken on purpose\n"


def run_part(tmp_path, monkeypatch, text, seconds):
    (tmp_path / "made_up_part.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    settings = {"simulated": "h100", "is_short": True, "facts": {}}
    return isolation.run_part("made_up_part", settings, tmp_path / "folder", seconds)


CRASHES = """
import os, pathlib, signal, subprocess
from outcome import judged
def check(target):
    yield judged("first", 3, True, "")
    sleeper = subprocess.Popen(["sleep", "1000"])
    pathlib.Path(target.folder, "sleeper").write_text(str(sleeper.pid))
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_part_found_before_it_crashed_is_kept(tmp_path, monkeypatch):
    outcomes, took = run_part(tmp_path, monkeypatch, CRASHES, 300)
    assert [(each.check, each.status) for each in outcomes] == [("first", "pass"), ("made_up_part", "fail")]
    assert took["status"] == -9
    sleeper = int((tmp_path / "folder" / "sleeper").read_text())
    wait_until(lambda: not os.path.exists(f"/proc/{sleeper}") or not is_running(sleeper), "the job it left ends")


def test_a_part_that_hangs_is_stopped(tmp_path, monkeypatch):
    outcomes, took = run_part(tmp_path, monkeypatch, "import time\ntime.sleep(10_000)\n", 1)
    assert [(each.check, each.status) for each in outcomes] == [("made_up_part", "fail")]
    assert outcomes[0].detail.startswith("did not end within 1 s")
    assert took["status"] is None


def test_what_raises_in_a_part_is_its_reason(tmp_path, monkeypatch):
    outcomes, took = run_part(tmp_path, monkeypatch, "def check(target):\n    raise OSError('no such thing')\n", 300)
    assert [(each.status, each.detail) for each in outcomes] == [("fail", "OSError: no such thing")]
    assert "Traceback" in took["stderr_tail"]


def test_nothing_passes_that_compared_nothing():
    assert outcome.judged("x", 0, True, "").status == "fail"
    assert outcome.judged("x", 1, True, "").status == "pass"
    assert outcome.judged("x", 1, False, "").status == "fail"


def event(action, address, size):
    return {"action": action, "addr": address, "size": size, "frames": [{"filename": "a.py", "line": 1, "name": "f"}]}


THEIRS = [event("segment_alloc", 100, 50), event("alloc", 100, 10), event("free_requested", 100, 10)]


def test_memory_of_other_libraries_is_no_difference():
    # cuBLAS takes 30 B of its own from the driver, gives them back, and PyTorch gets the place.
    cublas = [event("segment_alloc", 200, 30), event("alloc", 200, 30)]
    gone = [event("free_requested", 200, 30), event("segment_free", 200, 30)]
    taken_over = [event("segment_alloc", 200, 70), event("alloc", 200, 8)]
    ours = [THEIRS[0], *cublas, THEIRS[1], *gone, *taken_over, THEIRS[2]]
    theirs = [*THEIRS[:2], *taken_over, THEIRS[2]]
    assert parity.compared_traces(ours, theirs) == (5, 5, 1, None)


def test_what_is_missing_or_of_another_size_is_a_difference():
    assert "first difference at entry 1" in parity.compared_traces([THEIRS[0], THEIRS[2]], THEIRS)[3]
    other_size = [THEIRS[0], event("alloc", 100, 20), THEIRS[2]]
    assert "first difference at entry 1" in parity.compared_traces(other_size, THEIRS)[3]
    other_line = [*THEIRS[:2], {**THEIRS[2], "frames": []}]
    assert "our frames" in parity.compared_traces(other_line, THEIRS)[3]


def test_agreement_looks_at_order_and_sizes_not_at_addresses():
    moved = [{**each, "addr": each["addr"] + 4096} for each in THEIRS]
    real, simulated = agreement.normalised(THEIRS), agreement.normalised(moved)
    assert real == simulated == [("segment_alloc", 50, 0), ("alloc", 10, 1), ("free_requested", 10, 1)]
    more = agreement.normalised([THEIRS[0], event("alloc", 110, 4), *THEIRS[1:]])
    assert agreement.agreeing_prefix(real, more) == 1
    assert agreement.matching_share(real, more) == pytest.approx(2 * 3 / 7)


def test_profile_of_a_gpu():
    names = ("NVIDIA H200", "NVIDIA H100 80GB HBM3", "NVIDIA L40S", "NVIDIA L4", "NVIDIA GeForce RTX 9090")
    assert [agreement.profile_of(name) for name in names] == ["h200", "h100", "l40s", "l4", "h100"]
