"""Native stacks as they are recorded of a program, against _Unwind_Backtrace in that program: code that comes and goes
at the same addresses, with frames of other sizes."""

import pickle

import pytest

from support.command import vramscope, vramscope_ok
from support.paths import BUILD
from support.session_reader import read_session

PROGRAMS = BUILD / "tests" / "integration" / "native_stacks"
PLUGINS = [PROGRAMS / "libplugin_a.so", PROGRAMS / "libplugin_b.so"]


class Run:
    def __init__(self, folder, *arguments):
        command = [PROGRAMS / "native_program", *arguments]
        result = vramscope("run", "--simulate", "h100", "-o", folder, "--verify-unwind", "--", *command)
        self.status, self.errors = result.status, result.stderr
        lines = [line.split() for line in result.stdout.splitlines()]
        self.said = {int(line[0], 16): [int(word, 16) for word in line[1:]] for line in lines if line[0] != "code"}
        self.code = next((int(line[1], 16) for line in lines if line[0] == "code"), None)
        self.folder = folder
        (session,) = folder.glob("*.vrams")
        recorded = read_session(session)
        self.recorded = {
            event.size: recorded.native_stacks[event.native_stack]
            for event in recorded.events
            if recorded.apis.get(event.api) == "cuMemAlloc_v2"
        }

    def assert_equal(self):
        """All but the place in allocate_and_tell() itself, which made the two calls in two places."""
        assert self.status == 0, self.errors
        assert "differs" not in self.errors
        assert {size: stack[1:] for size, stack in self.recorded.items()} == self.said
        assert min(map(len, self.said.values())) >= 4
        assert len({stack[0] for stack in self.recorded.values()}) == 1

    def names(self):
        """{bytes: names of the native frames}"""
        vramscope_ok("snapshot", "--native", self.folder, "-o", self.folder / "s.pickle")
        trace = pickle.loads((self.folder / "s.pickle").read_bytes())["device_traces"][0]
        return {event["size"]: [frame["name"] for frame in event["frames"]] for event in trace}


def test_frames_of_a_reloaded_library_are_those_of_the_new_one(tmp_path):
    run = Run(tmp_path / "out", "reload", *PLUGINS)
    if run.status == 3:
        pytest.skip("the loader never put one plugin where the other had been")
    run.assert_equal()
    assert sorted(run.said) == list(range(0x1000, 0x100C))
    for size, names in run.names().items():
        plugin = "ab"[(size - 0x1000) // 2 % 2]
        assert names[1] == f"call_back_from_{plugin}", (hex(size), names)
    # The plugins' code is of one size: at the same addresses only the frame's size tells them apart.
    assert len({frames[0] for frames in run.said.values()}) < 6


def test_frames_of_registered_jit_code(tmp_path):
    run = Run(tmp_path / "out", "jit")
    if run.status == 4:
        pytest.skip("memory that is written to and run is refused here")
    run.assert_equal()
    assert sorted(run.said) == list(range(0x1000, 0x100A))
    assert {frames[1] - run.code for frames in run.said.values()} == {7}
