"""One part of the check, in a process of its own. Called by gpu_check.py.

Usage: part.py SETTINGS.json     Appends each outcome, as one line of JSON, to the file that the settings name.
"""

import dataclasses
import importlib
import json
import os
import pathlib
import sys
import time
import traceback

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(TESTS), str(TESTS / "torch"), str(TESTS / "bench")]

from outcome import failure  # noqa: E402
from target import Target  # noqa: E402


def main():
    settings = json.loads(pathlib.Path(sys.argv[1]).read_text())
    folder = pathlib.Path(settings["folder"])
    target = Target(
        settings["simulated"],
        folder,
        time.monotonic() + settings["seconds"],
        settings["facts"],
        settings["is_short"],
    )
    os.chdir(TESTS.parent)
    with open(settings["outcomes"], "a") as file:

        def tell(outcome):
            print(json.dumps(dataclasses.asdict(outcome), default=str), file=file, flush=True)

        try:
            for outcome in importlib.import_module(settings["part"]).check(target):
                tell(outcome)
        except Exception as error:  # noqa: BLE001
            traceback.print_exc()
            tell(failure(settings["part"], error))


main()
