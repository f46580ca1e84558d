"""What tests/integration/python_stacks/program.py wrote of its own stacks, against what was recorded of it."""

import json
import pickle

from support.command import vramscope_ok

MAX_FRAMES = 4096


def as_recorded(string):
    """Lone surrogates have no UTF-8: U+FFFD stands for each. At most 65,535 bytes are kept."""
    valid = "".join("\ufffd" if 0xD800 <= ord(c) < 0xE000 else c for c in string)
    return valid.encode()[:65535].decode(errors="ignore")


def assert_stacks_are_tracebacks(answers, session):
    """How many stacks and frames were compared."""
    snapshot = answers.with_suffix(".pickle")
    vramscope_ok("snapshot", session, "-o", snapshot)
    trace = pickle.loads(snapshot.read_bytes())["device_traces"][0]
    recorded = {
        event["size"]: [(frame["name"], frame["filename"], frame["line"]) for frame in event["frames"]]
        for event in trace
        if event["action"] == "segment_alloc"
    }
    said = [json.loads(line) for line in answers.read_text().splitlines()]
    for number_of_bytes, frames in said:
        expected = [(as_recorded(name), as_recorded(filename), line) for name, filename, line in frames[:MAX_FRAMES]]
        assert recorded.pop(number_of_bytes) == expected, number_of_bytes
    assert not recorded, f"allocations that the program did not make: {sorted(recorded)[:9]}"
    return len(said), sum(len(frames) for _, frames in said)
