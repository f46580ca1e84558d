"""Kills a PyTorch job at random moments, and looks whether what is left is what the driver served.

Usage: kill.py [--runs N] [--seed N] [--folder DIR]    Every fourth run goes under `vramscope run`, and every eighth
kills that as well.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from support.command import vramscope, vramscope_ok  # noqa: E402
from support.driver_log import assert_kept_calls  # noqa: E402
from support.job import Job, is_running, wait_until  # noqa: E402
from support.paths import PYTHON  # noqa: E402
from support.simulation import preload_environment  # noqa: E402

TRAINS = pathlib.Path(__file__).parent / "trains_in_children.py"


def start(kind, folder):
    if kind == "run":
        return Job(folder, program=[PYTHON, TRAINS])
    folder.mkdir()
    return Job(environment=preload_environment(folder / "%p"), program=[PYTHON, TRAINS])


def check(folder, log):
    """Completes the session in `folder`; its events and losses."""
    result = vramscope("recover", folder)
    assert result.status == 0, result.describe()
    assert all(file.suffix == ".vrams" for file in folder.iterdir()), list(folder.iterdir())
    (process,) = json.loads(vramscope_ok("report", "--json", folder))["processes"]
    dump = vramscope_ok("dump", folder)
    assert_kept_calls(dump, log.read_text(), process["lost_events"])
    return process["events"], process["lost_events"]


class Jobs:
    """One process that starts jobs, for each kind; started again when it was killed."""

    def __init__(self, folder):
        self.folder = folder
        self.running = {}
        self.started = 0

    def of(self, kind):
        if kind not in self.running:
            self.started += 1
            sessions = self.folder / f"{kind}-{self.started}"
            self.running[kind] = (start(kind, sessions), sessions)
        return self.running[kind]

    def stop(self, kind):
        self.running.pop(kind)[0].stop()


def kill_once(number, jobs, moment):
    kind = "run" if number % 4 == 3 else "preload"
    job, sessions = jobs.of(kind)
    log = jobs.folder / f"driver-{number}.log"
    first, second = job.ask(str(log), patience_s=600), job.process.stdout.readline()
    child = int((first + second).replace("ready", "").strip())
    time.sleep(moment)
    if number % 8 == 7:
        job.kill_run()
    os.kill(child, signal.SIGKILL)
    wait_until(lambda: not is_running(child), f"process {child} ends")
    own = jobs.folder / f"session-{number}"
    own.mkdir()
    if kind == "run" and number % 8 != 7:  # it drains what is left, and removes the ring file
        wait_until(lambda: not list(sessions.glob(f"*-{child}.ring")), "`run` finishes the session")
    for file in sessions.glob(f"*{child}.*"):
        file.rename(own / file.name)
    if number % 8 == 7:
        jobs.stop(kind)
    result = check(own, log)
    shutil.rmtree(own)
    log.unlink()
    return kind, *result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--folder", type=pathlib.Path)
    options = parser.parse_args()
    folder = options.folder or pathlib.Path(tempfile.mkdtemp(prefix="vramscope-kill-"))
    print(f"seed {options.seed}, folder {folder}", flush=True)
    chance = random.Random(options.seed)
    jobs, lossy = Jobs(folder), 0
    for number in range(options.runs):
        kind, events, lost = kill_once(number, jobs, chance.random() * chance.choice((0.01, 0.2, 1)))
        lossy += lost > 0
        print(f"{number + 1} {kind}: {events} events, {lost} lost", flush=True)
    for kind in list(jobs.running):
        jobs.stop(kind)
    print(f"{options.runs} runs: each left a prefix of every thread's calls ({lossy} with counted losses)")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
