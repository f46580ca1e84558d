"""Runs a script unmodified while PyTorch records its own memory history in the same process.

Usage: with_history.py FOLDER SCRIPT [ARGUMENT...]

At the script's end, and at the end of each process that it spawned by torch.multiprocessing.spawn,
FOLDER/torch-PID.pickle holds what PyTorch itself says: see history.dump. The process then leaves by
os._exit with the script's status, so that what is alive in the dump is alive at the end.
"""

import runpy
import sys
import traceback

import history


def run_script(script):
    """The script's exit status, and what must live on: its globals, or the exception that ended it."""
    try:
        return 0, runpy.run_path(script, run_name="__main__")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None), stop
    except BaseException as error:
        traceback.print_exc()
        return 1, error


def main():
    folder, script = sys.argv[1:3]
    sys.argv = sys.argv[2:]
    history.start()
    history.record_spawned_processes(folder)
    status, alive = run_script(script)
    history.dump(folder)
    history.leave(status)


main()
