"""What a user gets for what cannot work: one clear line on stderr, status 2, nothing on stdout."""

import json
import os
import pickle
import signal
import sys

import pytest

from support.command import vramscope, vramscope_ok
from support.paths import ROOT

ALLOCATE = ROOT / "tests" / "integration" / "allocate.py"
USAGE_STATUS = 2


def assert_one_clear_line(result, *mentioned):
    assert result.status == USAGE_STATUS, result.describe()
    assert result.stdout == "", result.describe()
    lines = result.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("vramscope: "), result.describe()
    missing = [word for word in mentioned if str(word) not in lines[0]]
    assert not missing, f"{missing} not in: {lines[0]}"


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """A session file of a small program."""
    folder = tmp_path_factory.mktemp("session")
    vramscope_ok("run", "--simulate", "h100", "-o", folder, "--", sys.executable, ALLOCATE, "40", "1048576")
    (file,) = folder.iterdir()
    return file


def test_version():
    assert vramscope_ok("--version") == "vramscope 0.1.0\n"


def test_help_names_every_command():
    text = vramscope_ok("--help")
    assert [name for name in ("run", "report", "snapshot", "dump", "recover") if name not in text] == []


def test_the_small_program_is_reported(session):
    (process,) = json.loads(vramscope_ok("report", "--json", session))["processes"]
    (device,) = process["devices"]
    assert (device["peak_allocated_bytes"], device["live_bytes"]) == (40 << 20, 20 << 20)


@pytest.mark.parametrize(
    ("arguments", "mentioned"),
    [
        (["--colour"], "--colour"),
        (["paint"], "paint"),
        ([], "no command"),
        (["report"], "RUN"),
        (["report", "--colour", "x"], "--colour"),
        (["snapshot"], "RUN"),
        (["snapshot", "x"], "-o"),
        (["run", "--colour", "--", "true"], "--colour"),
        (["run"], "COMMAND"),
        (["run", "--simulate", "80Gigs", "--", "true"], "80Gigs"),
        (["run", "--simulate", "h100x0", "--", "true"], "h100x0"),
        (["run", "--simulate", "h100xx2", "--", "true"], "h100xx2"),
        (["run", "--simulate", "", "--", "true"], "--simulate"),
        (["run", "--simulate", "h100", "--simulate-lag", "-1", "--", "true"], "-1"),
        (["run", "--simulate", "h100", "--simulate-lag", "9" * 20, "--", "true"], "9" * 20),
        (["run", "--simulate", "h100", "--simulate-context", "much", "--", "true"], "much"),
        (["run", "--simulate", "h100", "--simulate-context", "100GiB", "--", "true"], "100GiB"),
        (["run", "--stacks", "rust", "--", "true"], "rust"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_wrong_usage(arguments, mentioned, tmp_path):
    assert_one_clear_line(vramscope(*arguments, cwd=tmp_path), mentioned)
    assert list(tmp_path.iterdir()) == []


def foreign(folder, session):
    (folder / "notes.txt").write_text("not a recording\n" * 100)
    return folder / "notes.txt"


def empty(folder, session):
    (folder / "empty.vrams").write_bytes(b"")
    return folder / "empty.vrams"


def cut_in_the_header(folder, session):
    (folder / "cut.vrams").write_bytes(session.read_bytes()[:11])
    return folder / "cut.vrams"


def of_a_later_version(folder, session):
    content = bytearray(session.read_bytes())
    content[8:12] = (99).to_bytes(4, "little")
    (folder / "later.vrams").write_bytes(content)
    return folder / "later.vrams"


def cut_pickle(folder, session):
    whole = pickle.dumps({"segments": [], "device_traces": [[]], "more": "x" * 100}, protocol=4)
    (folder / "cut.pickle").write_bytes(whole[: len(whole) // 2])
    return folder / "cut.pickle"


def pickle_of_something_else(folder, session):
    (folder / "other.pickle").write_bytes(pickle.dumps(["neither segments", "nor traces"]))
    return folder / "other.pickle"


class Bomb:
    def __reduce__(self):
        return open, ("pickle-was-executed", "w")


def pickle_that_runs_code(folder, session):
    (folder / "bomb.pickle").write_bytes(pickle.dumps({"segments": Bomb(), "device_traces": [[]]}, protocol=4))
    return folder / "bomb.pickle"


def missing_file(folder, session):
    return folder / "absent.vrams"


def folder_without_sessions(folder, session):
    (folder / "nothing").mkdir()
    return folder / "nothing"


BAD_INPUTS = [
    foreign,
    empty,
    cut_in_the_header,
    of_a_later_version,
    cut_pickle,
    pickle_of_something_else,
    pickle_that_runs_code,
    missing_file,
    folder_without_sessions,
]


@pytest.mark.parametrize("make", BAD_INPUTS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("command", ["report", "snapshot", "dump"])
def test_bad_input_is_named(command, make, session, tmp_path):
    bad = make(tmp_path, session)
    output = ["-o", tmp_path / "out.pickle"] if command == "snapshot" else []
    assert_one_clear_line(vramscope(command, bad, *output, cwd=tmp_path), bad)
    assert not (tmp_path / "out.pickle").exists()
    assert not (tmp_path / "pickle-was-executed").exists()


def test_session_cut_in_the_middle_is_read_as_far_as_it_goes(session, tmp_path):
    whole = session.read_bytes()
    cut = tmp_path / "cut.vrams"
    for length in range(16, len(whole), max(1, len(whole) // 50)):
        cut.write_bytes(whole[:length])
        result = vramscope("report", "--json", cut)
        if result.status == 0:
            json.loads(result.stdout)
        else:
            assert_one_clear_line(result, cut)


@pytest.mark.parametrize("step", range(8))
def test_damaged_session_never_crashes(session, step, tmp_path):
    """Turns over bytes all through the file: each either does no harm or is told."""
    damaged = tmp_path / "damaged.vrams"
    whole = session.read_bytes()
    for position in range(step, len(whole), max(8, len(whole) // 40 // 8 * 8)):
        content = bytearray(whole)
        content[position] ^= 0xFF
        damaged.write_bytes(content)
        result = vramscope("report", "--json", damaged)
        assert result.status in (0, USAGE_STATUS), f"byte {position}: {result.describe()}"


def test_snapshot_into_a_folder_that_cannot_be(session, tmp_path):
    (tmp_path / "file").write_text("")
    output = tmp_path / "file" / "out.pickle"
    assert_one_clear_line(vramscope("snapshot", session, "-o", output), output)


def test_run_into_a_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    output = tmp_path / "file" / "out"
    assert_one_clear_line(vramscope("run", "-o", output, "--", "true"), output)


def test_missing_command_is_127_as_in_a_shell(tmp_path):
    result = vramscope("run", "-o", tmp_path / "out", "--", "no-such-program")
    assert result.status == 127
    (line,) = result.stderr.splitlines()
    assert line.startswith("vramscope: ") and "no-such-program" in line


def test_command_that_is_not_executable_is_126_as_in_a_shell(tmp_path):
    (tmp_path / "data").write_text("")
    result = vramscope("run", "-o", tmp_path / "out", "--", tmp_path / "data")
    assert result.status == 126
    (line,) = result.stderr.splitlines()
    assert line.startswith("vramscope: ") and str(tmp_path / "data") in line


@pytest.mark.parametrize("status", [0, 1, 77, 255])
def test_run_ends_with_the_jobs_status(status, tmp_path):
    assert vramscope("run", "-o", tmp_path / "out", "--", "bash", "-c", f"exit {status}").status == status


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV])
def test_run_ends_by_the_jobs_signal(sent, tmp_path):
    result = vramscope("run", "-o", tmp_path / "out", "--", "bash", "-c", f"kill -{int(sent)} $$")
    assert result.status == -sent


@pytest.mark.parametrize("command", ["report", "dump"])
def test_what_may_never_end_is_refused(command, session, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    assert_one_clear_line(vramscope(command, fifo, timeout=20), fifo)
    assert_one_clear_line(vramscope(command, "/dev/zero", timeout=20), "/dev/zero")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "folder" / "fifo.vrams")
    assert_one_clear_line(vramscope(command, tmp_path / "folder", timeout=20), "folder/fifo.vrams")


@pytest.mark.parametrize("name", ["huge", "huge.vrams", "huge.ring"])
def test_a_huge_foreign_file_is_not_read_whole(name, tmp_path):
    with open(tmp_path / name, "wb") as file:
        file.truncate(1 << 40)
    assert_one_clear_line(vramscope("report", tmp_path / name, timeout=20), tmp_path / name, "byte 0")


@pytest.mark.parametrize("command", [["report", "--json"], ["dump"]], ids=["report", "dump"])
def test_a_damaged_file_of_a_folder_does_not_hide_the_others(command, session, tmp_path):
    (tmp_path / session.name).write_bytes(session.read_bytes())
    bad = empty(tmp_path, session)
    alone = vramscope_ok(*command, session)
    beside = vramscope(*command, tmp_path)
    assert (beside.status, beside.stdout) == (0, alone.replace(str(session), str(tmp_path / session.name)))
    assert beside.stderr.startswith(f"vramscope: {bad}: ") and beside.stderr.endswith("; left out\n")


def test_each_program_of_a_process_has_its_own_snapshot(tmp_path):
    again = f"import runpy, os, sys; sys.argv[1:] = ['3', '4096']; runpy.run_path({str(ALLOCATE)!r}); "
    again += f"os.execv(sys.executable, [sys.executable, {str(ALLOCATE)!r}, '5', '4096'])"
    vramscope_ok("run", "--simulate", "t4", "-o", tmp_path / "out", "--", sys.executable, "-c", again)
    vramscope_ok("snapshot", tmp_path / "out", "-o", tmp_path / "s.pickle")
    files = sorted(tmp_path.glob("s-*.pickle"), key=lambda file: len(file.name))
    actions = [[e["action"] for e in pickle.loads(f.read_bytes())["device_traces"][0]].count("alloc") for f in files]
    assert actions == [3, 5]
