"""Runs a part in a process of its own: whatever it does, it ends in time, and what it found is kept."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

from outcome import FAIL, TAIL_CHARACTERS, Outcome

PART = pathlib.Path(__file__).parent / "part.py"
# A part stops its own jobs so long before it is stopped itself, and says so.
NOTICE_S = 3


def stop_all_of(process):
    """The part, and the jobs that it left: they are in its process group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def outcomes_in(file):
    """Whole lines only: the part may have been stopped within one."""
    lines = file.read_text().split("\n")[:-1] if file.exists() else []
    return [Outcome(**json.loads(line)) for line in lines]


def run_part(part, settings, folder, seconds):
    """(outcomes, what to remember of the process)."""
    folder.mkdir()
    files = {name: folder / name for name in ("settings", "outcomes", "stderr")}
    given = {**settings, "part": part, "folder": str(folder), "outcomes": str(files["outcomes"])}
    files["settings"].write_text(json.dumps({**given, "seconds": max(1, seconds - NOTICE_S)}))
    start = time.monotonic()
    with open(files["stderr"], "wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, str(PART), str(files["settings"])],
            stdin=subprocess.DEVNULL,
            stdout=stderr,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            status = process.wait(timeout=max(1, seconds))
        except subprocess.TimeoutExpired:
            status = None
        finally:
            stop_all_of(process)
    outcomes = outcomes_in(files["outcomes"])
    tail = files["stderr"].read_text(errors="replace")[-TAIL_CHARACTERS:]
    if status != 0:
        what = f"did not end within {seconds:.0f} s" if status is None else f"ended with status {status}"
        lines = [line for line in tail.splitlines() if line.strip()]
        outcomes.append(Outcome(part, FAIL, f"{what}: {lines[-1].strip() if lines else 'no word on stderr'}"))
    elif not outcomes:
        outcomes.append(Outcome(part, FAIL, "found nothing to say"))
    took = {"part": part, "status": status, "seconds": round(time.monotonic() - start, 1), "stderr_tail": tail}
    return outcomes, took
