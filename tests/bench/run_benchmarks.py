"""Measures and prints one table a part. Usage: run_benchmarks.py [PART...]; called by scripts/bench."""

import importlib
import os
import pathlib
import shutil
import sys
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
RESULTS = ROOT / "build" / "bench"

# Each is a module NAME_part.py with measure(folder), which returns rows.
PARTS = {
    "parts": "stacks, events, rings and the heap model by themselves",
    "pytorch": "an allocation and free of a cached block, against PyTorch's recorder",
    "gpt": "a training step of a GPT",
    "start": "a process that never uses CUDA",
    "size": "session files, snapshots and reports",
    "memory": "the recorder's memory in the process",
}


def main():
    chosen = sys.argv[1:] or list(PARTS)
    unknown = [name for name in chosen if name not in PARTS]
    if unknown:
        sys.exit(f"scripts/bench: no part {unknown[0]}; there are: {' '.join(PARTS)}")
    from table import print_table  # behind the usage, which needs nothing

    os.chdir(ROOT)
    broken = []
    for name in chosen:
        folder = RESULTS / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        load = os.getloadavg()[0]
        print(f"\n== {name}: {PARTS[name]} (load {load:.1f} on {os.cpu_count()} processors)", flush=True)
        start = time.monotonic()
        try:
            rows = importlib.import_module(f"{name}_part").measure(folder)
        except Exception:
            traceback.print_exc()
            broken.append(name)
            continue
        print_table(f"{name}, measured in {time.monotonic() - start:.0f} s", rows)
    if broken:
        sys.exit(f"scripts/bench: could not measure: {' '.join(broken)}")


if __name__ == "__main__":
    main()
