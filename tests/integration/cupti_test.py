"""The audit by CUPTI, with a libcupti that works, differs, refuses or is too old."""

import json

import pytest

from support.command import vramscope, vramscope_ok
from support.paths import BUILD

PROGRAM = BUILD / "tests" / "integration" / "cupti_program"
FAKE = BUILD / "tests" / "integration" / "fake_cupti" / "libcupti.so.13"


def audited(tmp_path, *arguments, fake="", **environment):
    result = vramscope(
        *("run", "--simulate", "h100", "-o", tmp_path / "out", "--", PROGRAM, *arguments),
        environment={"VRAMSCOPE_CUPTI": "1", "LD_PRELOAD": str(FAKE), "FAKE_CUPTI": fake, **environment},
    )
    assert (result.status, result.stdout) == (0, "done\n"), result.describe()
    (process,) = json.loads(vramscope_ok("report", "--json", tmp_path / "out"))["processes"]
    return process["cupti_audit"], [line for line in result.stderr.splitlines() if "CUPTI" in line]


def test_what_both_saw_agrees(tmp_path):
    audit, lines = audited(tmp_path)
    assert lines == []
    assert audit == {
        "started": True,
        "agreed": 9,  # 5 allocations, 3 frees, 1 of pinned memory
        "hooks_only": 0,
        "cupti_only": 0,
        "sizes_differ": 0,
        "not_compared": 1,
        "lost": 2,
    }
    assert "CUPTI audit: 9 operations agree" in vramscope_ok("report", tmp_path / "out")


def test_what_one_saw_alone_is_counted(tmp_path):
    audit, _ = audited(tmp_path, "differ")
    figures = [audit[key] for key in ("agreed", "hooks_only", "cupti_only", "sizes_differ")]
    assert figures == [8, 1, 1, 1]


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
    assert lines == [f"vramscope: VRAMSCOPE_CUPTI=1: {reason}; there is no audit by CUPTI"]
    assert audit["started"] is False
    assert "CUPTI audit: could not be started" in vramscope_ok("report", tmp_path / "out")


def test_on_the_simulated_driver_it_fails_in_one_line(tmp_path):
    audit, lines = audited(tmp_path, LD_PRELOAD="")
    assert len(lines) == 1 and lines[0].startswith("vramscope: VRAMSCOPE_CUPTI=1: "), lines
    assert audit["started"] is False


def test_nobody_asked(tmp_path):
    audit, lines = audited(tmp_path, VRAMSCOPE_CUPTI="0")
    assert (audit, lines) == (None, [])
