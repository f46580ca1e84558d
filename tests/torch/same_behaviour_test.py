"""The job's behaviour never changes: the same output, status and allocations with and without the profiler."""

import re

import pytest

from cases import CASES
from support import events
from support.differences import assert_same
from support.recordings import PLAIN, PROFILED, recording_of

every_case = pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.xdist_group(case.name)) for case in CASES], ids=str
)


def own_lines(text):
    """What the program itself printed, without the time of PyTorch's warnings: `vramscope run` prefixes its own."""
    lines = [line for line in text.splitlines() if not line.startswith("vramscope: ")]
    return [re.sub(r"^\[([WE])\d{4} [\d:.]+ ", r"[\1 ", line) for line in lines]


@every_case
def test_same_output_and_status(case):
    profiled, plain = (recording_of(case).result(side) for side in (PROFILED, PLAIN))
    assert profiled.status == plain.status == case.status, profiled.describe() + plain.describe()
    assert profiled.stdout != "" or case.status != 0
    assert_same(profiled.stdout.splitlines(), plain.stdout.splitlines(), ("profiled", "plain"))
    assert_same(own_lines(profiled.stderr), own_lines(plain.stderr), ("profiled", "plain"))


@every_case
def test_same_counters_and_allocations(case):
    """What PyTorch says about itself does not depend on being watched. Threads may interleave differently."""
    profiled, plain = (list(recording_of(case).torch_accounts(side).values()) for side in (PROFILED, PLAIN))
    assert len(profiled) == len(plain) > 0
    if case.name == "four_threads":
        return
    for watched, alone in zip(profiled, plain):
        assert watched["devices"] == alone["devices"]
        if case.has_history:
            for ours, theirs in zip(watched["snapshot"]["device_traces"], alone["snapshot"]["device_traces"]):
                assert_same(shape(ours), shape(theirs), ("profiled", "plain"))


def shape(trace):
    return [(event["action"], event["size"]) for event in trace if event["action"] in events.BLOCK_ACTIONS]


@every_case
def test_without_the_profiler_no_session_is_left(case):
    sessions = recording_of(case).folder / PLAIN / "sessions"
    assert not sessions.exists() or list(sessions.iterdir()) == []
