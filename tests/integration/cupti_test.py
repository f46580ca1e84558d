"""The audit by CUPTI, with a libcupti that works, differs, refuses or is too old."""

import json

import pytest

from support.command import run_command, vramscope, vramscope_ok
from support.paths import BUILD, PYTHON
from support.simulation import preload_environment

PROGRAM = BUILD / "tests" / "integration" / "cupti_program"
NOT_CUPTI = BUILD / "preload" / "libvramscope_nvtx.so"
FAKE = BUILD / "tests" / "integration" / "fake_cupti" / "libcupti.so.13"


def audited(tmp_path, *arguments, fake="", **environment):
    result = vramscope(
        *("run", "--simulate", "h100", "-o", tmp_path / "out", "--", PROGRAM, *arguments),
        environment={"VRAMSCOPE_CUPTI": "1", "LD_PRELOAD": str(FAKE), "FAKE_CUPTI": fake, **environment},
    )
    assert (result.status, result.stdout) == (0, "done\n"), result.describe()
    (process,) = json.loads(vramscope_ok("report", "--json", tmp_path / "out"))["processes"]
    lines = [line.removeprefix("vramscope: ") for line in result.stderr.splitlines() if "CUPTI" in line]
    return process["cupti_audit"], lines


def outcome(agree, hooks_only, cupti_only, other_size):
    """The line that `run` prints at its end, and `report`."""
    seen = f"seen by the hooks alone: {hooks_only}, by CUPTI alone: {cupti_only}, of other size: {other_size}"
    return f"CUPTI audit: {agree} operations agree; {seen}; lost by CUPTI: 2"


def test_what_both_saw_agrees(tmp_path):
    audit, lines = audited(tmp_path)
    assert lines == [outcome(9, 0, 0, 0)]
    assert audit == {
        "started": True,
        "agreed": 9,  # 5 allocations, 3 frees, 1 of pinned memory
        "hooks_only": 0,
        "cupti_only": 0,
        "sizes_differ": 0,
        "not_compared": 1,
        "lost": 2,
        "differences": [],
    }
    assert outcome(9, 0, 0, 0) in vramscope_ok("report", tmp_path / "out")


def test_what_one_saw_alone_is_counted(tmp_path):
    audit, lines = audited(tmp_path, "differ")
    assert lines == [outcome(8, 1, 1, 1)]
    figures = [audit[key] for key in ("agreed", "hooks_only", "cupti_only", "sizes_differ")]
    assert figures == [8, 1, 1, 1]
    differences = {(entry["operation"], entry["hooks_minus_cupti"], entry["bytes"]) for entry in audit["differences"]}
    assert differences == {("alloc", 1, 4096), ("alloc", -1, -4096), ("alloc", 0, -4096)}
    assert 0xDEAD000 in {entry["address"] for entry in audit["differences"]}


NONE = "CUPTI audit: could not be started"


@pytest.mark.parametrize(
    ("fake", "reason"),
    [
        ("old", "version 12 is older than CUDA 11.2's (15)"),
        ("taken", "another tool holds CUPTI's only place (torch.profiler, Nsight...) (39: A_FAKE_RESULT)"),
        ("failing", "cuptiActivityEnable failed (15: A_FAKE_RESULT)"),
    ],
)
def test_what_stands_in_the_way_is_one_line(fake, reason, tmp_path):
    audit, lines = audited(tmp_path, fake=fake)
    assert lines == [f"VRAMSCOPE_CUPTI=1: {reason}; there is no audit by CUPTI", NONE]
    assert audit["started"] is False
    assert "CUPTI audit: could not be started" in vramscope_ok("report", tmp_path / "out")


def test_on_the_simulated_driver_it_fails_in_one_line(tmp_path):
    audit, lines = audited(tmp_path, LD_PRELOAD="")
    reason = "cuptiSubscribe failed (999: not supported by the simulated GPU); there is no audit by CUPTI"
    assert lines == [f"VRAMSCOPE_CUPTI=1: {reason}", NONE]
    assert audit["started"] is False


def test_nvidias_own_library_fails_in_one_line_too(tmp_path):
    """It finds no NVIDIA driver behind the simulated one, and the job goes on."""
    library = next((PYTHON.parents[1] / "lib").glob("python3*/site-packages/nvidia/cu13/lib/libcupti.so.13"))
    audit, lines = audited(tmp_path, LD_PRELOAD=str(library))
    reason = "cuptiSubscribe failed (999: CUPTI_ERROR_UNKNOWN); there is no audit by CUPTI"
    assert lines == [f"VRAMSCOPE_CUPTI=1: {reason}", NONE]
    assert audit["started"] is False


@pytest.mark.parametrize(
    ("stands_there", "reason"),
    [(None, "no libcupti found"), (NOT_CUPTI, "libcupti lacks functions that the audit needs")],
    ids=("missing", "another"),
)
def test_a_library_that_is_missing_or_another_is_one_line(stands_there, reason, tmp_path):
    """By LD_PRELOAD alone, without a stand-in; files that the linker cannot load hide the machine's own."""
    for name in ("libcupti.so.13", "libcupti.so.12", "libcupti.so"):
        (tmp_path / name).write_bytes(stands_there.read_bytes() if stands_there else b"")
    variables = preload_environment(tmp_path / "session", VRAMSCOPE_CUPTI="1", LD_LIBRARY_PATH=str(tmp_path))
    libraries = [name for name in variables["LD_PRELOAD"].split(":") if "libcupti" not in name]
    result = run_command([PROGRAM], {**variables, "LD_PRELOAD": ":".join(libraries)})
    assert (result.status, result.stdout) == (0, "done\n"), result.describe()
    assert result.stderr == f"vramscope: VRAMSCOPE_CUPTI=1: {reason}; there is no audit by CUPTI\n"


def test_nobody_asked(tmp_path):
    audit, lines = audited(tmp_path, VRAMSCOPE_CUPTI="0")
    assert (audit, lines) == (None, [])
