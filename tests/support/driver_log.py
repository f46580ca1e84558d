"""The simulated driver's log of memory calls, and the same calls as `vramscope dump` prints them."""

import collections

from support.differences import first_difference

# Tab-separated: pid tid api result device address size stream handle
PID, TID, API, RESULT = range(4)
CALL_API, CALL_DEVICE = 0, 2  # in a call as parse returns it
NO_DEVICE = "-1"

# Calls that make memory must name its device. What refers to something existing names none: its device is
# that of the call that made it.
MAKES_MEMORY = {
    "cuMemAlloc",
    "cuMemAllocPitch",
    "cuMemAllocManaged",
    "cuMemAllocAsync",
    "cuMemAllocFromPoolAsync",
    "cuMemCreate",
    "cuMemPoolCreate",
    "cuArrayCreate",
    "cuArray3DCreate",
    "cuMipmappedArrayCreate",
}


def parse(text):
    """{(pid, tid): [call, ...]} in each thread's order; of a failed call only name and result count."""
    calls = collections.defaultdict(list)
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        fields = line.split("\t")
        assert len(fields) == 9, f"not a line of 9 fields: {line!r}"
        kept = fields[API:] if fields[RESULT] == "0" else fields[API : RESULT + 1]
        calls[fields[PID], fields[TID]].append(tuple(kept))
    return dict(calls)


def without_device(call):
    return call[:CALL_DEVICE] + (NO_DEVICE,) + call[CALL_DEVICE + 1 :]


def as_recorded(served, recorded):
    """The served call without its device, where the recorded one leaves it out and may."""
    leaves_out = len(recorded) > CALL_DEVICE and recorded[CALL_DEVICE] == NO_DEVICE
    if leaves_out and len(served) > CALL_DEVICE and served[CALL_API] not in MAKES_MEMORY:
        return without_device(served)
    return served


def assert_same_calls(recorded, served):
    """Both texts hold the same calls: none missed, none invented, thread by thread in order."""
    recorded, served = parse(recorded), parse(served)
    assert served, "the simulated driver served no memory call: nothing was tested"
    assert set(recorded) == set(served), f"threads: recorded {sorted(recorded)}, served {sorted(served)}"
    for thread, calls in served.items():
        comparable = [as_recorded(*pair) for pair in zip(calls, recorded[thread])] + calls[len(recorded[thread]) :]
        difference = first_difference(recorded[thread], comparable, ("recorded", "served"))
        assert difference is None, f"thread {thread}: {difference}"
