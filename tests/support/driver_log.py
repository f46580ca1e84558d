"""The simulated driver's log of memory calls, and the same calls as `vramscope dump` prints them."""

import collections

from support.differences import first_difference

# Tab-separated: pid tid api result device address size stream handle
PID, TID, API, RESULT = range(4)


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


def assert_same_calls(recorded, served):
    """Both texts hold the same calls: none missed, none invented, thread by thread in order."""
    recorded, served = parse(recorded), parse(served)
    assert served, "the simulated driver served no memory call: nothing was tested"
    assert set(recorded) == set(served), f"threads: recorded {sorted(recorded)}, served {sorted(served)}"
    for thread, calls in served.items():
        difference = first_difference(recorded[thread], calls, ("recorded", "served"))
        assert difference is None, f"thread {thread}: {difference}"


def whole_lines(growing):
    """A log that is read while it is written can end within a line."""
    return growing[: growing.rfind("\n") + 1]


def assert_prefix_of_calls(recorded, served, may_miss=1):
    """What each thread did is recorded from its first call on, all but the last few of a killed one."""
    recorded, served = parse(recorded), parse(whole_lines(served))
    assert recorded, "nothing was recorded: nothing was tested"
    assert set(recorded) <= set(served), f"threads: recorded {sorted(recorded)}, served {sorted(served)}"
    for thread, calls in served.items():
        kept = recorded.get(thread, [])
        difference = first_difference(kept, calls[: len(kept)], ("recorded", "served"))
        assert difference is None, f"thread {thread}: {difference}"
        if may_miss is not None:
            assert len(calls) - len(kept) <= may_miss, f"thread {thread}: {len(kept)} of {len(calls)} calls"


def assert_counted_calls(recorded, served):
    """Each thread's recorded calls are among those that it made, in the same order: some may be missing anywhere."""
    recorded, served = parse(recorded), parse(whole_lines(served))
    assert set(recorded) <= set(served), f"threads: recorded {sorted(recorded)}, served {sorted(served)}"
    for thread, calls in recorded.items():
        rest = iter(served[thread])
        for position, call in enumerate(calls):
            assert call in rest, f"thread {thread}: call {position} was not served, or not in this order: {call}"


def assert_kept_calls(recorded, served, lost, may_miss=1):
    """Of a process that recorded faster than this machine could drain there are holes, and they are counted."""
    if lost == 0:
        assert_prefix_of_calls(recorded, served, may_miss)
    else:
        assert_counted_calls(recorded, served)
