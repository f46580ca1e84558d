"""Session files say what the tool says of them, when they are read by a reader that was written from the format's
description alone."""

import re
import sys

import pytest

from cases import BY_NAME
from support.command import vramscope_ok
from support.differences import assert_same
from support.recordings import recording_of
from support.session_reader import BLOCK_ALLOC, BLOCK_FREE, BLOCK_OOM, MARKS, read_session

NAMES = ("linear", "record_stream", "four_threads", "expandable_segments", "python_shapes", "ddp")
BLOCK_NAMES = {BLOCK_ALLOC: "block_alloc", BLOCK_FREE: "block_free", BLOCK_OOM: "block_oom"}


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in NAMES])
def sessions(request):
    """[(pid, file, what the reader of this test found in it)]"""
    recording = recording_of(BY_NAME[request.param])
    files = sorted(recording.sessions.glob("*.vrams"))
    assert files
    return recording, [(int(file.stem.rsplit("-", 1)[1]), file, read_session(file)) for file in files]


def dumped(session, event):
    api = BLOCK_NAMES.get(event.kind) or re.sub("(_v[0-9]+)?(_ptsz|_ptds)?$", "", session.apis[event.api])
    numbers = [session.info["pid"], event.thread_id, api, event.result, event.device]
    numbers += [hex(event.address), event.size, hex(event.stream), hex(event.handle)]
    return "\t".join(map(str, numbers))


def test_every_call_is_the_one_that_dump_prints(sessions):
    for _, file, session in sessions[1]:
        lines = vramscope_ok("dump", "--blocks", file).splitlines()[1:]
        calls = [event for event in session.events if event.kind not in MARKS]
        assert_same([dumped(session, event) for event in calls], lines, ("file", "dump"))


def test_every_block_has_the_stack_that_the_snapshot_shows(sessions):
    recording, found = sessions
    for pid, _, session in found:
        if {code[4] for code in session.codes.values()} != {sys.version_info.minor}:
            pytest.skip("line numbers are known to the recorded version of Python only")
        for device, trace in enumerate(recording.snapshot(pid)["device_traces"]):
            shown = [block_of(event) for event in trace if event["action"] in ("alloc", "free_requested")]
            blocks = [event for event in session.events if event.kind in (BLOCK_ALLOC, BLOCK_FREE)]
            ours = [block_in_file(session, event) for event in blocks if event.device == device]
            assert_same(ours, shown, ("file", "snapshot"))


def block_of(event):
    frames = [(frame["name"], frame["filename"], frame["line"]) for frame in event["frames"]]
    has_python = any(filename.endswith((".py", ">")) for _, filename, _ in frames)
    return event["action"], event["addr"], frames if has_python else "no Python frame"


def block_in_file(session, event):
    action = "alloc" if event.kind == BLOCK_ALLOC else "free_requested"
    frames = [tuple(frame) for frame in session.python_frames(event.python_stack)]
    return action, event.address, frames or "no Python frame"


def test_addresses_of_native_frames_lie_in_modules(sessions):
    for _, _, session in sessions[1]:
        inside = total = 0
        for stack in session.native_stacks.values():
            for address in stack:
                total += 1
                inside += any(begin < address <= end for begin, end, *_ in session.modules)
        assert total > 0
        assert inside == total  # nothing of these programs was compiled at run time
