"""Processes that measure the same thing under different recorders, by turns.

All live at the same time and each measures when it is asked, so that whatever else the machine does
meets all of them alike: only ratios and differences within one round mean anything.
"""

import contextlib
import dataclasses
import os
import subprocess
import sys

from support.command import clean_environment
from support.paths import PYTHON, TOOL
from support.simulation import simulation_variables

GPU = "h100"  # empty: the machine's own
ENVIRONMENT = None  # that the processes start from; None: one that does not depend on the tester's


@dataclasses.dataclass(frozen=True)
class Mode:
    name: str
    stacks: str = ""  # of vramscope: "python,native"...; empty: it is not in the process at all
    history: str = ""  # of PyTorch's own recorder: "state", "python", "all"


PLAIN = Mode("no profiler")


def progress(text):
    print(f"   {text}", file=sys.stderr, flush=True)


class Worker:
    """A script that answers each line on its stdin with one line: numbers, or words."""

    def __init__(self, mode, script, arguments, sessions):
        command = [PYTHON, script, *arguments]
        environment = clean_environment() if ENVIRONMENT is None else dict(ENVIRONMENT)
        environment["BENCH_HISTORY"] = mode.history
        # One seed for all: where Python's dicts put their entries changes its speed by more than we look for.
        environment["PYTHONHASHSEED"] = "0"
        if mode.stacks:
            folder = sessions / mode.name.replace(" ", "-")
            options = [*(["--simulate", GPU] if GPU else []), "--stacks", mode.stacks, "-o", folder]
            command = [TOOL, "run", *options, "--", *command]
        elif GPU:
            environment |= simulation_variables(GPU)
        self.mode = mode
        self.process = subprocess.Popen(
            [str(word) for word in command],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ask(self, request=""):
        try:
            self.process.stdin.write(request + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"'{self.mode.name}' ended: {self.process.communicate()[1]}")
        return answer.strip()

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.stdout.close()
        self.process.stderr.close()
        self.process.wait()


@contextlib.contextmanager
def undisturbed():
    """What is started here goes before all other programs of the machine, where we may ask for that."""
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        progress("no leave to go before other programs (SCHED_FIFO): they are measured too")
    try:
        yield
    finally:
        os.sched_setscheduler(0, *before)


def alternate(modes, script, arguments, rounds, sessions):
    """{mode: [numbers of each round]}; the order within a round changes from round to round."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(undisturbed())
        workers = []
        for mode in modes:
            workers.append(Worker(mode, script, arguments, sessions))
            stack.callback(workers[-1].close)
        for worker in workers:
            progress(f"{worker.mode.name}: {worker.ask()}")  # the first answer: it is ready
        values = {mode: [] for mode in modes}
        for number in range(rounds):
            shift = number % len(workers)
            for worker in workers[shift:] + workers[:shift]:
                values[worker.mode].append([float(number) for number in worker.ask().split()])
    return values


def session_files(folder):
    return sorted(entry for entry in os.scandir(folder) if entry.name.endswith(".vrams"))
