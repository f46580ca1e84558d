"""Snapshots that PyTorch itself wrote on real GPUs: read, reported, and written again."""

import json
import lzma
import pickle

import pytest

from support.command import vramscope, vramscope_ok
from support.paths import ROOT

SNAPSHOTS = ROOT / "tests" / "data" / "snapshots"
NAMES = ["linear_adam_small", "transformer_full_step", "transformer_mid_run"]


@pytest.fixture(scope="module", params=NAMES)
def original(request, tmp_path_factory):
    """The pickle as PyTorch wrote it, as a file."""
    plain = SNAPSHOTS / f"{request.param}.pickle"
    if plain.exists():
        return plain
    file = tmp_path_factory.mktemp("snapshots") / plain.name
    file.write_bytes(lzma.decompress((SNAPSHOTS / f"{request.param}.pickle.xz").read_bytes()))
    return file


def load(file):
    return pickle.loads(file.read_bytes())


def report_of(file, *options):
    (process,) = json.loads(vramscope_ok("report", "--json", *options, file))["processes"]
    (device,) = process["devices"]
    return process, device


def stack_of(event):
    return tuple((frame["name"], frame["filename"], frame["line"]) for frame in event["frames"])


def live_before(snapshot):
    """{address: (bytes, stack)} of blocks from before the trace: freed without an allocation in it, or alive at
    the end without one."""
    opened, before = set(), {}
    for event in snapshot["device_traces"][0]:
        if event["action"] == "alloc":
            opened.add(event["addr"])
        elif event["action"] == "free_completed":
            if event["addr"] in opened:
                opened.remove(event["addr"])
            else:
                before[event["addr"]] = event["size"], stack_of(event)
    for segment in snapshot["segments"]:
        for block in segment["blocks"]:
            if block["state"] == "active_allocated" and block["address"] not in opened:
                before[block["address"]] = block["requested_size"], stack_of(block)
    return before


def account(snapshot):
    """What the report must say, added up from the pickle alone."""
    live = live_before(snapshot)
    segment_events = [e for e in snapshot["device_traces"][0] if e["action"] in ("segment_alloc", "segment_free")]
    change = {"segment_alloc": 1, "segment_free": -1}
    reserved = sum(segment["total_size"] for segment in snapshot["segments"])
    reserved -= sum(change[event["action"]] * event["size"] for event in segment_events)

    allocated = sum(size for size, _ in live.values())
    peak_allocated, peak_reserved, at_peak = allocated, reserved, dict(live)
    for event in snapshot["device_traces"][0]:
        reserved += change.get(event["action"], 0) * event["size"]
        if event["action"] == "alloc":
            live[event["addr"]] = event["size"], stack_of(event)
            allocated += event["size"]
        elif event["action"] == "free_requested":
            allocated -= live.pop(event["addr"])[0]
        peak_reserved = max(peak_reserved, reserved)
        if allocated > peak_allocated:
            peak_allocated, at_peak = allocated, dict(live)
    return {
        "peak_allocated_bytes": peak_allocated,
        "peak_reserved_bytes": peak_reserved,
        "live_bytes": allocated,
        "live_blocks": len(live),
        "live_reserved_bytes": reserved,
    }, at_peak


def test_the_report_says_what_the_pickle_adds_up_to(original):
    expected, _ = account(load(original))
    process, device = report_of(original)
    assert {key: device[key] for key in expected} == expected
    assert process["events"] == len(load(original)["device_traces"][0])
    assert device["owners"][0]["owner"] == "PyTorch"


def test_the_peak_is_told_by_stack(original):
    _, at_peak = account(load(original))
    by_stack = {}
    for size, stack in at_peak.values():
        total, blocks = by_stack.get(stack, (0, 0))
        by_stack[stack] = total + size, blocks + 1
    _, device = report_of(original, "--top", "0")
    assert {stack_of(entry): (entry["bytes"], entry["blocks"]) for entry in device["top"]} == by_stack
    sizes = [entry["bytes"] for entry in device["top"]]
    assert sizes == sorted(sizes, reverse=True)
    _, shortened = report_of(original, "--top", "3")
    assert shortened["top"] == device["top"][:3]


def test_known_figures():
    """The same as the viewer shows, written down once so that both sides cannot drift together."""
    _, device = report_of(SNAPSHOTS / "linear_adam_small.pickle")
    assert (device["peak_allocated_bytes"], device["peak_reserved_bytes"]) == (217_763_364, 232_783_872)


def test_written_again_it_is_the_same_snapshot(original, tmp_path):
    vramscope_ok("snapshot", original, "-o", tmp_path / "again.pickle")
    assert load(tmp_path / "again.pickle") == load(original)


def test_every_protocol_is_read(original, tmp_path):
    expected = vramscope_ok("report", "--json", original)
    for protocol in (2, 3, 4, 5):
        file = tmp_path / original.name
        file.write_bytes(pickle.dumps(load(original), protocol=protocol))
        assert vramscope_ok("report", "--json", file) == expected.replace(str(original), str(file))


def test_the_text_fits_a_terminal(original):
    text = vramscope_ok("report", original)
    assert max(len(line) for line in text.splitlines()[1:]) <= 100
    assert "peak allocated" in text and "GPU 0" in text


def test_dump_prints_the_trace(original):
    lines = vramscope_ok("dump", "--blocks", original).splitlines()
    events = load(original)["device_traces"][0]
    assert [line.split("\t")[2] for line in lines[1:]] == [event["action"] for event in events]
    assert [int(line.split("\t")[6]) for line in lines[1:]] == [event["size"] for event in events]
    only_segments = vramscope_ok("dump", original).splitlines()
    assert len(only_segments) - 1 == sum(event["action"].startswith("segment") for event in events)


@pytest.mark.parametrize("output", ["/dev/full", "absent-folder/s.pickle"])
def test_an_output_that_cannot_be_written(output, tmp_path):
    result = vramscope("snapshot", SNAPSHOTS / "linear_adam_small.pickle", "-o", output, cwd=tmp_path)
    assert (result.status, result.stdout) == (2, "")
    assert result.stderr.startswith(f"vramscope: {output}: cannot be written: "), result.describe()
    assert len(result.stderr.splitlines()) == 1


def test_a_process_that_is_not_there():
    result = vramscope("report", "--process", "rank7", SNAPSHOTS / "linear_adam_small.pickle")
    assert (result.status, result.stdout) == (2, "")
    assert "no process rank7 (--process)" in result.stderr and len(result.stderr.splitlines()) == 1


def test_every_cut_of_a_pickle_is_one_error_line(tmp_path):
    content = (SNAPSHOTS / "linear_adam_small.pickle").read_bytes()
    for length in (0, 1, 2, 100, 20_000, len(content) - 1):
        (tmp_path / "cut.pickle").write_bytes(content[:length])
        result = vramscope("report", tmp_path / "cut.pickle")
        assert (result.status, result.stdout, len(result.stderr.splitlines())) == (2, "", 1), result.describe()
        assert "byte" in result.stderr
