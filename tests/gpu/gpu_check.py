"""All checks of a machine with a GPU, in five minutes. Called by scripts/gpu-check.

Usage: gpu_check.py [--simulate GPU] [--only PART[,PART]] [--output FILE.json] [--short]

Prints a line for each outcome (pass, FAIL, skipped) and writes all figures to one JSON file, again after each part.
The status is 1 if anything failed. What a simulated GPU cannot show is skipped, never passed. Each part is a process
of its own with a limit of its own: one that breaks or hangs fails, and the others go on.
"""

import argparse
import dataclasses
import json
import pathlib
import sys
import tempfile
import time

from isolation import run_part
from outcome import FAIL, PASS, SKIPPED, Outcome

# Seconds each; what one leaves, the next ones may use. `machine` always runs: the others need what it finds.
LIMITS_S = {"machine": 30, "parity": 80, "cupti": 30, "invisible": 40, "agreement": 50, "overhead": 60}
assert sum(LIMITS_S.values()) <= 290


def arguments():
    parser = argparse.ArgumentParser(prog="gpu-check")
    parser.add_argument("--simulate", default="", metavar="GPU", help="h100, ...: check a simulated one")
    parser.add_argument("--only", default="", metavar="PART,...", help=f"of {', '.join(LIMITS_S)}")
    parser.add_argument("--output", default="gpu-check.json", metavar="FILE")
    parser.add_argument("--short", action="store_true", help="fewer cases and rounds: a test of the check itself")
    parser.add_argument("--patience", type=float, default=1, metavar="TIMES", help="all limits times this")
    chosen = parser.parse_args()
    chosen.only = [name for name in chosen.only.split(",") if name] or list(LIMITS_S)
    unknown = [name for name in chosen.only if name not in LIMITS_S]
    if unknown:
        parser.error(f"no part {unknown[0]}; there are: {', '.join(LIMITS_S)}")
    return chosen


class Results:
    """Written after each part: a check that is stopped from outside leaves what it had."""

    def __init__(self, chosen):
        self.file = writable(pathlib.Path(chosen.output))
        self.start = time.monotonic()
        self.outcomes, self.parts = [], []
        self.about = {"format": 1, "simulated": chosen.simulate or None, "short": chosen.short}
        self.facts = {}

    def add(self, outcomes, took):
        self.parts.append(took)
        for outcome in outcomes:
            self.outcomes.append(outcome)
            self.facts.update(outcome.figures.get("facts", {}))
            for line in outcome.table:
                print(f"         {line}")
            print(f"{outcome.status.replace(FAIL, 'FAIL'):8} {outcome.check}: {outcome.detail}", flush=True)
        self.write()

    def count(self, status):
        return sum(outcome.status == status for outcome in self.outcomes)

    def write(self):
        result = {
            **self.about,
            "facts": self.facts,
            "seconds": round(time.monotonic() - self.start, 1),
            "passed": self.count(PASS),
            "failed": self.count(FAIL),
            "skipped": self.count(SKIPPED),
            "outcomes": [dataclasses.asdict(outcome) for outcome in self.outcomes],
            "parts": self.parts,
        }
        self.file.write_text(json.dumps(result, indent=1) + "\n")


def writable(file):
    try:
        file.touch()
    except OSError as error:
        other = pathlib.Path(tempfile.gettempdir()) / "gpu-check.json"
        print(f"gpu-check: {file}: {error.strerror}; the figures go to {other}", file=sys.stderr)
        return other
    return file


def run_parts(chosen, results, folder):
    settings = {"simulated": chosen.simulate, "is_short": chosen.short}
    limit = results.start
    for part, seconds in LIMITS_S.items():
        if part not in ("machine", *chosen.only):
            continue
        limit += seconds * chosen.patience
        if part != "machine" and results.outcomes[0].status != PASS:
            results.add([Outcome(part, SKIPPED, "part machine did not pass")], {"part": part, "status": None})
            continue
        results.add(*run_part(part, {**settings, "facts": results.facts}, folder / part, limit - time.monotonic()))


def main():
    chosen = arguments()
    results = Results(chosen)
    with tempfile.TemporaryDirectory(prefix="gpu-check-", ignore_cleanup_errors=True) as folder:
        run_parts(chosen, results, pathlib.Path(folder))
    counts = [results.count(status) for status in (PASS, FAIL, SKIPPED)]
    seconds = time.monotonic() - results.start
    print("{} passed, {} failed, {} skipped in {:.0f} s; figures in {}".format(*counts, seconds, results.file))
    return 1 if counts[1] or not counts[0] else 0


if __name__ == "__main__":
    sys.exit(main())
