"""The session holds every memory call that the simulated driver served, and no other."""

import pytest

from cases import BY_NAME, CASES
from support.driver_log import assert_same_calls
from support.recordings import recording_of


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.xdist_group(case.name)) for case in CASES], ids=str
)
def test_every_memory_call_was_recorded(case):
    recording = recording_of(case)
    assert_same_calls(recording.dump(), recording.driver_log())


@pytest.mark.xdist_group("cuda_malloc_async")
def test_stream_ordered_calls_are_the_blocks():
    """With cudaMallocAsync PyTorch's allocator is the driver's: the report must follow from the log alone."""
    recording = recording_of(BY_NAME["cuda_malloc_async"])
    live, current, peak = {}, 0, 0
    for line in recording.driver_log().splitlines():
        if line.startswith("#"):
            continue
        _, _, api, result, _, address, size, _, _ = line.split("\t")
        if result == "0" and api in ("cuMemAllocAsync", "cuMemAllocFromPoolAsync"):
            live[address] = int(size)
            current += int(size)
        elif result == "0" and api == "cuMemFreeAsync":
            current -= live.pop(address)
        peak = max(peak, current)
    assert len(live) > 0
    ((_, process),) = recording.report().items()
    (device,) = process["devices"]
    assert (device["peak_allocated_bytes"], device["live_bytes"], device["live_blocks"]) == (peak, current, len(live))
