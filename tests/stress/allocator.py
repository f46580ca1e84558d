"""The model of PyTorch's allocator against the real one, with as many seeds as one likes.

Usage: allocator.py [--first SEED] [--seeds N] [--capacity SIZE] [--lag CALLS] [--folder FOLDER]

As tests/torch/allocator_test.py, with private pools in expandable segments too. A line for each seed that
differs, and the sum at the end; the status is 1 if any does.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "build" / "release" / "tools" / "cli" / "vramscope"
GENERATOR = ROOT / "tests" / "torch" / "harness" / "random_allocations.py"
BATCH = 10  # seeds of one process


def make(folder, first, count, options):
    command = [TOOL, "run", "--simulate", options.capacity, "--simulate-lag", str(options.lag), "-o", folder / "out", "--"]
    command += [ROOT / "build" / "venv" / "bin" / "python", "-W", "ignore", GENERATOR, folder, str(first), str(count), "everything"]
    environment = {"VRAMSCOPE_DISABLE": "1", "PATH": "/usr/bin:/bin"}
    return subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True).returncode


def compare(history, options):
    """None if the replay agrees; else what differs. And the number of events."""
    command = [TOOL, "replay", history, "--capacity", options.capacity, "--json"]
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if result.returncode != 0:
        return result.stderr.strip(), 0
    (device,) = json.loads(result.stdout)["devices"]
    agreement = device["agreement"]
    if agreement["agrees"] and agreement["first_difference"] is None:
        return None, agreement["events"]
    return f"{device['replays'][0]['settings']}: {agreement}", agreement["events"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--capacity", default="1GiB")
    parser.add_argument("--lag", type=int, default=20)
    parser.add_argument("--folder", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        compared = events = different = crashed = 0
        seed, end = options.first, options.first + options.seeds
        while seed < end:
            count = min(BATCH, end - seed)
            status = make(folder, seed, count, options)
            done = 0
            while done < count and (folder / f"{seed + done}.pickle").exists():
                problem, seen = compare(folder / f"{seed + done}.pickle", options)
                compared, events, different = compared + 1, events + seen, different + (problem is not None)
                if problem:
                    print(f"seed {seed + done}: {problem}", flush=True)
                done += 1
            if done < count:
                crashed += 1
                print(f"seed {seed + done}: the job itself ended with status {status}", flush=True)
                done += 1  # with the next one it goes on
            seed += done
    print(f"{compared} seeds, {events} events, {different} differ; {crashed} jobs crashed")
    return 1 if different or not compared else 0


sys.exit(main())
