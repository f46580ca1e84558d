"""Each script of ooms/ provokes one verdict; its numbers are worked out in the script's first lines."""

import json
import re

import pytest

from support.command import vramscope, vramscope_ok
from support.paths import PYTHON, TORCH_TESTS

MIB = 1 << 20

# script: its status, and of each failed request, in order: verdict, confidence, and figures in MiB
OOMS = {
    "plain_capacity": (1, [("capacity", "high", {"requested": 100, "allocated": 1000, "reserved": 1000, "free": 24})]),
    "first_optimizer_step": (1, [("capacity", "high", {"requested": 300, "allocated": 900, "free": 124})]),
    "impossible_size": (1, [("impossible_size", "high", {"allocated": 1, "capacity": 1024})]),
    "limit_of_the_program": (1, [("limit_or_refusal", "high", {"requested": 600, "reserved": 0, "free": 1024})]),
    "big_segment_pinned_by_small_blocks": (
        1,
        [
            (
                "fragmentation",
                "high",
                {"requested": 400, "allocated": 24, "cached": 936, "free": 64, "largest_free_block": 78, "releasable": 0},
            )
        ],
    ),
    "graphs_private_pool": (1, [("private_pool", "high", {"requested": 500, "allocated": 1, "private_pool": 600})]),
    "pending_frees_in_a_capture": (
        1,
        [("pending_free", "high", {"requested": 300, "allocated": 500, "pending_free": 300, "free": 224})],
    ),
    "library_starved_by_the_cache": (
        0,
        [("starved_by_cache", "high", {"requested": 200, "allocated": 0, "releasable": 900, "free": 124})],
    ),
    "memory_kept_by_an_exception": (
        1,
        [
            ("capacity", "high", {"requested": 500, "allocated": 700, "free": 324}),
            ("capacity", "high", {"requested": 400, "allocated": 700, "free": 324}),
        ],
    ),
    "recovered_by_the_program": (0, [("capacity", "high", {"requested": 900, "allocated": 300, "free": 724})]),
    "other_processes_on_the_gpu": (
        1,
        [("outside_allocator", "medium", {"requested": 500, "allocated": 0, "other": 600, "free": 424})],
    ),
}


def ooms_of(name, tmp_path):
    script = TORCH_TESTS / "ooms" / f"{name}.py"
    run = vramscope("run", "--simulate", "1GiB", "-o", tmp_path / "out", "--", PYTHON, script)
    assert run.status == OOMS[name][0], run.describe()
    assert ("ran out of memory\nvramscope:   GPU 0: " in run.stderr) == (name != "recovered_by_the_program")
    assert all(len(line) <= 100 for line in run.stderr.splitlines() if line.startswith("vramscope:  "))
    processes = json.loads(vramscope_ok("report", "--json", tmp_path / "out"))["processes"]
    return [oom for process in processes for oom in process["ooms"]]


@pytest.mark.parametrize("name", OOMS)
def test_verdict_and_figures(name, tmp_path):
    ooms = ooms_of(name, tmp_path)
    found = [
        (oom["verdict"], oom["confidence"], {figure: oom[f"{figure}_bytes"] / MIB for figure in figures})
        for oom, (_, _, figures) in zip(ooms, OOMS[name][1])
    ]
    assert found == OOMS[name][1] and len(ooms) == len(found)
    assert all(oom["because"] for oom in ooms)
    assert [oom["final"] for oom in ooms] == [name != "recovered_by_the_program"] * len(ooms)
    assert all(oom["frames"][-1]["filename"] == str(TORCH_TESTS / "ooms" / f"{name}.py") for oom in ooms)
    text = vramscope_ok("report", tmp_path / "out")
    assert max(map(len, text.splitlines())) <= 100 + len(str(tmp_path))
    if name == "big_segment_pinned_by_small_blocks":
        (pinned,) = ooms[0]["pinned_by"]
        assert (pinned["blocks"], pinned["block_bytes"], pinned["bytes"]) == (12, 24 * MIB, 936 * MIB)
        assert "12 blocks (24.00 MiB) pin 936.00 MiB free" in text


def test_verdict_of_run_can_be_switched_off(tmp_path):
    script = TORCH_TESTS / "ooms" / "plain_capacity.py"
    command = ("run", "--simulate", "1GiB", "-o", tmp_path / "out", "--", PYTHON, script)
    run = vramscope(*command, environment={"VRAMSCOPE_OOM": "off"})
    assert run.status == 1 and "ran out of memory" not in run.stderr and "vramscope: see" in run.stderr


# The settings that the report names.
ADVICE = {
    "big_segment_pinned_by_small_blocks": ["expandable_segments:True", "max_split_size_mb:32"],
    "plain_capacity": [],
}


@pytest.mark.parametrize("name", ADVICE)
def test_advice_is_true(name, tmp_path):
    """What is said to help lets the real PyTorch finish, with the peak that is named; nothing else is said to."""
    (oom,) = ooms_of(name, tmp_path)
    assert len(oom["advice"]) == max(1, len(ADVICE[name]))
    for advice, settings in zip(oom["advice"], ADVICE[name]):
        peak = re.fullmatch(
            rf"PYTORCH_ALLOC_CONF={settings} would have fitted it \(peak reserved ([0-9.]+) MiB of 1.00 GiB\)", advice
        )
        assert peak, advice
        run, device = with_settings(settings, name, tmp_path / settings[:4])
        assert run.status == 0, run.describe()
        assert device["peak_reserved_bytes"] == float(peak[1]) * MIB
    if not ADVICE[name]:
        assert oom["advice"] == [
            "no setting of PyTorch's allocator helps (15 replayed): 1000.00 MiB was live, and 100.00 MiB more was asked "
            "for, of 1.00 GiB"
        ]
        assert with_settings("expandable_segments:True", name, tmp_path / "expa")[0].status == 1


def with_settings(settings, name, folder):
    script = TORCH_TESTS / "ooms" / f"{name}.py"
    environment = {"PYTORCH_ALLOC_CONF": settings}
    run = vramscope("run", "--simulate", "1GiB", "-o", folder, "--", PYTHON, script, environment=environment)
    (process,) = json.loads(vramscope_ok("report", "--json", folder))["processes"]
    return run, process["devices"][0]
