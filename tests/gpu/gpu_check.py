"""All checks of a machine with a GPU, in five minutes. Called by scripts/gpu-check.

Usage: gpu_check.py [--simulate GPU] [--only CHECK[,CHECK]] [--output FILE.json]

Prints a line for each outcome (pass, FAIL, skipped) and writes all figures to one JSON file. The status is 1
if anything failed. What a simulated GPU cannot show is skipped, never passed.
"""

import argparse
import importlib
import json
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests"), str(ROOT / "tests" / "torch"), str(ROOT / "tests" / "bench")]

from target import FAIL, SKIPPED, OutOfTime, Outcome, Target  # noqa: E402

CHECKS = ("parity", "cupti", "invisible", "agreement", "overhead")
LIMIT_S = 290


def outcomes_of(name, target):
    """A check that breaks is one that failed; the others go on."""
    try:
        yield from importlib.import_module(name).check(target)
    except OutOfTime:
        yield Outcome(name, SKIPPED, f"no time left of {LIMIT_S} s")
    except subprocess.TimeoutExpired as error:
        yield Outcome(name, FAIL, f"no end within {LIMIT_S} s in all: {error.cmd[-1]}")
    except subprocess.CalledProcessError as error:
        yield Outcome(name, FAIL, f"status {error.returncode} of {' '.join(error.cmd)}: {error.stderr[-2000:]}")
    except Exception as error:  # noqa: BLE001
        yield Outcome(name, FAIL, f"{type(error).__name__}: {error}")


def arguments():
    parser = argparse.ArgumentParser(prog="gpu-check")
    parser.add_argument("--simulate", default="", metavar="GPU")
    parser.add_argument("--only", default=",".join(CHECKS), metavar="CHECK,...", help=f"of {', '.join(CHECKS)}")
    parser.add_argument("--output", default="gpu-check.json", metavar="FILE")
    chosen = parser.parse_args()
    chosen.only = chosen.only.split(",")
    unknown = [name for name in chosen.only if name not in CHECKS]
    if unknown:
        parser.error(f"no check {unknown[0]}; there are: {', '.join(CHECKS)}")
    return chosen


def main():
    chosen = arguments()
    start = time.monotonic()
    found = []
    with tempfile.TemporaryDirectory(prefix="gpu-check-") as folder:
        target = Target(chosen.simulate, pathlib.Path(folder), start + LIMIT_S)
        for name in chosen.only:
            for outcome in outcomes_of(name, target):
                found.append(outcome)
                print(f"{outcome.status.replace(FAIL, 'FAIL'):8} {outcome.check}: {outcome.detail}", flush=True)
    result = {
        "gpu": chosen.simulate or "real",
        "simulated": bool(chosen.simulate),
        "seconds": round(time.monotonic() - start, 1),
        "outcomes": [vars(outcome) for outcome in found],
    }
    pathlib.Path(chosen.output).write_text(json.dumps(result, indent=1) + "\n")
    counts = [sum(outcome.status == status for outcome in found) for status in ("pass", FAIL, SKIPPED)]
    print("{} passed, {} failed, {} skipped; figures in {}".format(*counts, chosen.output))
    return 1 if counts[1] or not counts[0] else 0


if __name__ == "__main__":
    sys.exit(main())
