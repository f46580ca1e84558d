"""Parity with PyTorch's own recorder, in one and the same run of an unmodified script.

Ours is what `vramscope snapshot` and `report --json` say; theirs is `torch.cuda.memory._snapshot()` and
torch.cuda's counters, taken in the profiled process at its end.
"""

import pytest

from support import events
from support.differences import assert_same, first_difference
from support.recordings import recording_of
from cases import CASES

WITH_HISTORY = [pytest.param(case, marks=pytest.mark.xdist_group(case.name)) for case in CASES if case.has_history]
every_case = pytest.mark.parametrize("case", WITH_HISTORY, ids=str)

NO_USE = {"peak_allocated_bytes": 0, "peak_reserved_bytes": 0, "live_bytes": 0}


def traces_of(case):
    """(ours, theirs) of every device of every process that used the GPU."""
    recording = recording_of(case)
    accounts = recording.torch_accounts()
    assert accounts, f"no process used the GPU: {recording.result().describe()}"
    for pid, account in accounts.items():
        ours = recording.snapshot(pid)["device_traces"]
        theirs = account["snapshot"]["device_traces"]
        for device, trace in enumerate(theirs):
            yield ours[device] if device < len(ours) else [], trace


@every_case
def test_allocations_and_frees_in_the_same_order(case):
    compared = 0
    for ours, theirs in traces_of(case):
        assert_same(events.block_order(ours), events.block_order(theirs), ("ours", "torch"))
        compared += len(events.block_order(theirs))
    assert compared > 0


@every_case
def test_segments_come_and_go_between_blocks_of_the_sizes_asked_for(case):
    for ours, theirs in traces_of(case):
        assert_same(events.interleaved(ours), events.interleaved(theirs), ("ours", "torch"))


@every_case
def test_same_segments_and_blocks_at_the_end(case):
    recording = recording_of(case)
    for pid, account in recording.torch_accounts().items():
        for device in range(len(account["devices"])):
            ours = events.final_segments(recording.snapshot(pid), device)
            theirs = events.final_segments(account["snapshot"], device)
            assert_same(ours, theirs, ("ours", "torch"))


@every_case
def test_python_stacks_are_equal_frame_by_frame(case):
    compared = 0
    for ours, theirs in traces_of(case):
        ours, theirs = events.interleaved_events(ours), events.interleaved_events(theirs)
        assert len(ours) == len(theirs)
        for index, (our_event, their_event) in enumerate(zip(ours, theirs)):
            where = f"event {index}, {their_event['action']} of {their_event.get('addr', 0):#x}: "
            mine, torchs = events.python_frames(our_event), events.python_frames(their_event)
            assert mine == torchs, where + first_difference(mine, torchs, ("ours", "torch"))
            compared += len(torchs)
    assert compared > 0


@every_case
def test_peaks_and_live_bytes_equal_torchs_counters(case):
    recording = recording_of(case)
    for pid, account in recording.torch_accounts().items():
        reported = {device["device"]: device for device in recording.report()[pid]["devices"]}
        for device, counters in enumerate(account["devices"]):
            ours = {key: reported.get(device, NO_USE)[key] for key in NO_USE}
            assert ours == counters, f"process {pid}, device {device}"


EXPANDABLE = [param for param in WITH_HISTORY if "expandable" in param.values[0].allocator]


@pytest.mark.parametrize("case", EXPANDABLE, ids=str)
def test_expandable_segments_are_what_is_mapped(case):
    recording = recording_of(case)
    for pid, account in recording.torch_accounts().items():
        kinds = {(kind["kind"], kind["device"]): kind for kind in recording.report()[pid]["kinds"]}
        for device, counters in enumerate(account["devices"]):
            physical, mapped = kinds["physical", device], kinds["mapped", device]
            assert mapped["peak_bytes"] == counters["peak_reserved_bytes"]
            # PyTorch has all of a range's memory before it maps the first piece, and may be refused the last.
            assert physical["peak_bytes"] >= mapped["peak_bytes"]
            assert (physical["live_bytes"], physical["live_count"]) == (mapped["live_bytes"], mapped["live_count"])
            assert kinds["address_space", None]["live_bytes"] > mapped["peak_bytes"]


@every_case
def test_nothing_was_lost(case):
    assert {process["lost_events"] for process in recording_of(case).report().values()} == {0}
