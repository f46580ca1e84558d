"""The model of PyTorch's allocator (`vramscope replay`) against the real one, event by event.

Random work (harness/random_allocations.py) runs on the simulated GPU, small enough that requests fail; the
replay of PyTorch's own history must make the same segments, blocks and failures, at the same addresses.
tests/stress/allocator.py does the same with as many seeds as one likes.
"""

import json

import pytest

from support.command import vramscope, vramscope_ok
from support.paths import PYTHON, TORCH_TESTS

GENERATOR = TORCH_TESTS / "harness" / "random_allocations.py"
CAPACITY = "1GiB"
SEEDS = range(0, 30)  # all settings of the generator twice


@pytest.fixture(scope="module")
def histories(tmp_path_factory):
    folder = tmp_path_factory.mktemp("histories")
    run = vramscope(
        *("run", "--simulate", CAPACITY, "--simulate-lag", "20", "-o", folder / "sessions", "--"),
        *(PYTHON, "-W", "ignore", GENERATOR, folder, SEEDS.start, len(SEEDS)),
        environment={"VRAMSCOPE_DISABLE": "1"},
    )
    assert run.status == 0, run.describe()
    return folder


def replayed(history):
    (device,) = json.loads(vramscope_ok("replay", history, "--capacity", CAPACITY, "--json"))["devices"]
    return device


@pytest.mark.xdist_group("allocator")
def test_replays_are_what_pytorch_did(histories):
    totals = {"segments": 0, "failed": 0, "retries": 0, "frees": 0, "maps": 0, "unmaps": 0}
    for seed in SEEDS:
        device = replayed(histories / f"{seed}.pickle")
        agreement, recorded = device["agreement"], device["replays"][0]
        told = f"seed {seed}, {recorded['settings']}: {agreement}"
        assert agreement["events"] > 500, told
        assert agreement["equal_events"] == agreement["events"], told
        assert agreement["first_difference"] is None, told
        assert agreement["agrees"], told
        totals["segments"] += agreement["segments"]
        totals["failed"] += recorded["failed_as_recorded"]
        totals["retries"] += recorded["retries"]
        totals["frees"] += recorded["segment_frees"]
        totals["maps"] += recorded["maps"]
        totals["unmaps"] += recorded["unmaps"]
    # Nothing of what is compared was left out by chance.
    assert min(totals.values()) > 50, totals


@pytest.mark.xdist_group("allocator")
def test_other_settings_are_noticed(histories):
    history = histories / "0.pickle"
    options = ("--capacity", CAPACITY, "--json", "--recorded-settings", "max_split_size_mb:20")
    (device,) = json.loads(vramscope_ok("replay", history, *options))["devices"]
    assert not device["agreement"]["agrees"]
    assert device["agreement"]["first_difference"] is not None
