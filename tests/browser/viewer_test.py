"""PyTorch's own viewer, unmodified, in a real browser, accepts our snapshots and draws what they say."""

import copy
import pathlib
import pickle
import re
import subprocess

import pytest

from cases import CASES
from oracle import expected_drawing
from support.paths import ROOT
from support.recordings import recording_of
from viewer_page import DRAWN_AT_MOST, ViewerPage
from viewer_server import serve
from webdriver import Chrome

VIEWER = ROOT / "build" / "memoryviz"
FETCH_TIMEOUT_S = 300


@pytest.fixture(scope="session")
def page():
    fetched = subprocess.run(
        [pathlib.Path(__file__).parent / "get_memoryviz.sh", VIEWER],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=FETCH_TIMEOUT_S,
    )
    assert fetched.returncode == 0, f"PyTorch's viewer could not be fetched: {fetched.stderr}"
    server, address = serve(VIEWER)
    with Chrome() as chrome:
        yield ViewerPage(chrome, address)
    server.shutdown()


def snapshots_of(case):
    recording = recording_of(case)
    files = [recording.snapshot_file(pid) for pid in recording.torch_accounts()]
    assert files, f"no process of {case} used the GPU"
    return files


@pytest.mark.parametrize("case", CASES, ids=str)
def test_viewer_draws_the_snapshot(page, case):
    for file in snapshots_of(case):
        snapshot = pickle.loads(file.read_bytes())
        used = [device for device, trace in enumerate(snapshot["device_traces"]) if trace]
        assert used, f"{file} has no events"
        for device in used:
            assert page.drop(file.name, file.read_bytes()) == []
            page.show_device(device)
            check_device(page, expected_drawing(snapshot, device))


def check_device(page, expected):
    assert expected["elements"] > 0
    check_timeline(page, expected)
    check_hover(page)
    check_state_history(page, expected)
    for view in page.views():
        page.show(view)
        assert page.errors() == [], view
    assert page.severe_messages() == []


def check_timeline(page, expected):
    """One polygon an allocation, one for the band of the small rest, one for the overview; the peak in bytes."""
    drawn = page.timeline()
    assert drawn["polygons"] == min(expected["elements"], DRAWN_AT_MOST) + 2
    assert drawn["malformed"] == 0
    assert drawn["width"] > 100
    if expected["elements"] <= DRAWN_AT_MOST:
        assert drawn["peak"] == expected["peak"]


def check_hover(page):
    number, size, text = page.hover_over_an_allocation()
    assert text.startswith(f"{number} Addr: b"), text[:200]
    assert f"({size} bytes) allocation" in text, text[:200]


def check_state_history(page, expected):
    """One line an event; the last one shows the final segments; every one can be selected, which walks the
    whole history backwards."""
    page.show("Allocator State History")
    page.select_event(1)
    history = page.state_history()
    assert {key: history[key] for key in ("events", "segments", "blocks")} == {
        key: expected[key] for key in ("events", "segments", "blocks")
    }
    totals = re.search(r"\((\d+) bytes\) allocated / .*\((\d+) bytes\) reserved", history["summary"])
    assert totals.groups() == (str(expected["allocated"]), str(expected["reserved"]))
    for fraction in (0, 0.25, 0.5, 0.75):
        page.select_event(fraction)
        assert page.errors() == [], f"event at {fraction}"


def newer_protocol(snapshot):
    return pickle.dumps(snapshot, protocol=5)


def half_a_file(snapshot):
    whole = pickle.dumps(snapshot, protocol=4)
    return whole[: len(whole) // 2]


def category_without_unknown(snapshot):
    changed = copy.deepcopy(snapshot)
    changed["device_traces"][0] = [{**event, "category": "activation"} for event in changed["device_traces"][0]]
    return pickle.dumps(changed, protocol=4)


def no_device(snapshot):
    return pickle.dumps({**snapshot, "device_traces": []}, protocol=4)


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (newer_protocol, "Unhandled version 5"),
        (half_a_file, "UNKNOWN OPCODE|undefined|RangeError|Error"),
        (category_without_unknown, "TypeError"),
        (no_device, "TypeError"),
    ],
)
def test_viewer_rejects_what_the_format_forbids(page, damage, complaint):
    """Without this, the test above could pass because the page never complains."""
    (file,) = snapshots_of(CASES[0])
    errors = page.drop("damaged.pickle", damage(pickle.loads(file.read_bytes())))
    assert errors and re.search(complaint, str(errors)), errors
