"""Random settings, calls, threads, forks and ends, for as long as one likes.

Usage: chaos.py [--minutes N] [--seed N]    Stops at the first promise that does not hold.
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
from support.driver_log import assert_kept_calls, parse  # noqa: E402
from support.job import PATIENCE_S, Job, is_running, kill, wait_until  # noqa: E402
from support.simulation import preload_environment  # noqa: E402

ENDS = {
    "exit": 0,
    "call _exit 9": 9,
    "call abort": -signal.SIGABRT,
    "kill": -signal.SIGKILL,
    "kill run": None,
    "kill both": None,
}


class Round:
    def __init__(self, chance, folder):
        self.chance = chance
        self.folder = folder
        self.launch = chance.choice(("run", "preload"))
        self.overflow = chance.choice(("wait", "wait", "flight-recorder"))
        self.settings = {
            "VRAMSCOPE_RING": chance.choice(("64KiB", "256KiB", "1MiB")),
            "VRAMSCOPE_STACKS": chance.choice(("none", "python", "native", "python,native")),
            "VRAMSCOPE_OVERFLOW": self.overflow,
            "VRAMSCOPE_SIM_LOG": str(folder / "driver.log"),
        }
        self.end = chance.choice([end for end in ENDS if self.launch == "run" or ENDS[end] is not None])
        self.forever = 0
        self.done = []

    def start(self):
        run = self.folder / "run"
        if self.launch == "run":
            return Job(run, environment=self.settings)
        run.mkdir()
        return Job(environment=preload_environment(run / "%p", **self.settings))

    def command(self):
        kind = self.chance.choice(("alloc", "threads", "threads", "fork", "forever", "execute"))
        if kind == "alloc":
            return f"alloc {self.chance.randrange(1, 300)} {self.chance.randrange(1, 1 << 16)}"
        if kind == "threads":
            return f"threads {self.chance.randrange(1, 12)} {self.chance.randrange(1, 600)}"
        if kind == "forever":
            # Two at most: a machine of few cores has to drain what they record.
            if self.forever == 2 or self.end == "exit":
                return "alloc 1 512"
            self.forever += 1
            return "forever 1"
        return kind

    def act(self, job):
        for _ in range(self.chance.randrange(1, 6)):
            command = self.command()
            self.done.append(command)
            if command == "execute":
                self.forever = 0
                job.tell(command)
                job.do("alloc 3 512")  # a job that calls nothing leaves nothing
            else:
                job.do(command)
            if self.chance.random() < 0.3:
                dump = vramscope("dump", "--pid", job.pid)
                assert dump.status in (0, 2), dump.describe()  # 2: nothing called since it was executed

    def finish(self, job):
        pid = job.pid
        if self.end in ("kill run", "kill both"):
            job.kill_run()
            if self.end == "kill both":
                kill(pid)
            elif self.forever == 0:
                job.do(f"threads 2 {self.chance.randrange(1, 3000)}")
            if self.end == "kill run":
                job.tell("call _exit 0")
        elif self.end == "kill":
            os.kill(pid, signal.SIGKILL)
        elif self.end == "exit":
            job.process.stdin.close()
        else:
            job.tell(self.end)
        if ENDS[self.end] is not None:
            status = job.process.wait(timeout=PATIENCE_S)
            assert status == ENDS[self.end], f"status {status}"
        wait_until(lambda: not is_running(pid), "the job ends")

    def check(self):
        run = self.folder / "run"
        result = vramscope("recover", run)
        assert result.status == 0, result.describe()
        assert all(file.suffix == ".vrams" for file in run.iterdir()), list(run.iterdir())
        processes = json.loads(vramscope_ok("report", "--json", run))["processes"]
        events = sum(process["events"] for process in processes)
        lost = sum(process["lost_events"] for process in processes)
        dump, log = vramscope_ok("dump", run), (self.folder / "driver.log").read_text()
        assert_kept_calls(dump, log, lost)
        calls = parse(log)
        served = sum(map(len, calls.values()))
        assert events + lost <= served, f"{events} events + {lost} lost, but {served} calls"
        assert served - events - lost <= len(calls), f"{events} events + {lost} lost of {served} calls"
        return f"{events} events, {lost} lost"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    options = parser.parse_args()
    end = time.monotonic() + options.minutes * 60
    rounds = 0
    while time.monotonic() < end:
        seed = options.seed + rounds
        folder = pathlib.Path(tempfile.mkdtemp(prefix="vramscope-chaos-"))
        current = Round(random.Random(seed), folder)
        words = f"seed {seed}, {current.launch}, {current.settings}, end: {current.end}"
        job = current.start()
        try:
            current.act(job)
            current.finish(job)
            print(f"{rounds + 1} {current.launch} {current.overflow} {current.end}: {current.check()}", flush=True)
        except BaseException:
            print(f"{words}\n  folder {folder}\n  commands {current.done}", flush=True)
            raise
        finally:
            job.stop()
        shutil.rmtree(folder)
        rounds += 1
    print(f"{rounds} rounds: all promises held")


if __name__ == "__main__":
    main()
