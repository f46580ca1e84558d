"""`vramscope summary` against torch.cuda.memory_stats() of the same job: every figure of both pools."""

import json
import pickle

import pytest

from support.command import vramscope, vramscope_ok
from support.paths import PYTHON, TORCH_TESTS

SCRIPT = TORCH_TESTS / "scripts" / "memory_stats.py"
MARK_BYTES = 1_234_944
GIB = 1 << 30

# name: allocator's settings, options of `run`, (our retries, PyTorch's): one for the out-of-memory error, and one for
# what was served after the cache was emptied. An expandable segment grows instead; with max_split_size PyTorch first
# frees what suffices, and does not count that.
SETTINGS = {
    "default": ("", (), (2, 2)),
    "lag": ("", ("--simulate-lag", "100000"), (2, 2)),
    "expandable": ("expandable_segments:True", (), (1, 1)),
    "max_split": ("max_split_size_mb:20", (), (2, 1)),
}


def torchs(statistics, ours):
    return {metric: statistics[metric] for metric in ours}


def summary(run, *options):
    (process,) = json.loads(vramscope_ok("summary", "--json", *options, run))["processes"]
    (device,) = process["devices"]
    return device


def entry_of_mark(run, tmp_path):
    """How many entries of the snapshot come until the marking tensor is given back, all of its free included."""
    vramscope_ok("snapshot", run, "-o", tmp_path / "s.pickle")
    trace = pickle.loads((tmp_path / "s.pickle").read_bytes())["device_traces"][0]
    return max(
        index + 1
        for index, event in enumerate(trace)
        if event["size"] == MARK_BYTES and event["action"] == "free_completed"
    )


@pytest.mark.parametrize("name", SETTINGS)
def test_equals_memory_stats(name, tmp_path):
    allocator, options, retries = SETTINGS[name]
    run = vramscope(
        *("run", "--simulate", "1GiB", *options, "-o", tmp_path / "out", "--", PYTHON, SCRIPT),
        environment={"PYTORCH_CUDA_ALLOC_CONF": allocator} if allocator else {},
    )
    assert run.status == 0, run.describe()
    middle, end = map(json.loads, run.stdout.splitlines())
    ours = summary(tmp_path / "out")
    assert ours["event"] == ours["events"]
    assert ours["statistics"] == torchs(end, ours["statistics"])
    assert (ours["num_ooms"], end["num_ooms"]) == (1, 1)
    assert (ours["num_alloc_retries"], end["num_alloc_retries"]) == retries
    assert ours["capacity_bytes"] == GIB
    assert ours["known_bytes"] == end["reserved_bytes"]["all"]["current"]

    at = entry_of_mark(tmp_path / "out", tmp_path)
    ours = summary(tmp_path / "out", "--at", str(at))
    assert ours["event"] == at < ours["events"]
    assert ours["statistics"] == torchs(middle, ours["statistics"])
    assert (ours["num_ooms"], ours["num_alloc_retries"]) == (0, 0)


def test_moments_that_are_none(tmp_path):
    run = vramscope("run", "--simulate", "1GiB", "-o", tmp_path / "out", "--", PYTHON, SCRIPT)
    assert run.status == 0, run.describe()
    refused = vramscope("summary", "--at", "1000000", tmp_path / "out")
    assert refused.status == 2 and "--at 1000000: GPU 0 has" in refused.stderr
    assert vramscope("summary", "--at-oom", "--at-peak", tmp_path / "out").status == 2
    assert summary(tmp_path / "out", "--at-oom")["num_ooms"] == 1
    text = vramscope_ok("summary", tmp_path / "out")
    assert max(map(len, text.splitlines())) <= 100
