"""What this machine is, and whether the profiler and PyTorch start on it: the other parts need both."""

import json
import os
import pathlib
import platform

from outcome import FAIL, JobFailed, Outcome, judged
from support.paths import BUILD, PYTHON, TOOL

FACTS_JOB = pathlib.Path(__file__).parent / "jobs" / "machine_facts.py"
LOADS = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
CORE = BUILD / "preload" / "libvramscope_core.so"


def system_name():
    try:
        lines = pathlib.Path("/etc/os-release").read_text().splitlines()
    except OSError:
        return None
    return next((line.split("=", 1)[1].strip('"') for line in lines if line.startswith("PRETTY_NAME=")), None)


def host_facts():
    return {
        "system": system_name(),
        "kernel": platform.release(),
        "glibc": platform.libc_ver()[1],
        "cores": os.cpu_count(),
    }


def first_obstacle(target, facts):
    """(what does not work, why), or None."""
    steps = (
        ("the tool does not start", lambda: target.run([TOOL, "run", "-o", target.folder / "none", "--", "true"])),
        ("the recorder cannot be loaded", lambda: target.run([PYTHON, "-c", LOADS, CORE])),
        ("PyTorch does not work", lambda: facts.update(json.loads(target.plain([FACTS_JOB]).splitlines()[-1]))),
    )
    for what, step in steps:
        try:
            step()
        except JobFailed as error:
            return Outcome("machine", FAIL, f"{what}: {error}", 0, {"facts": facts, "stderr_tail": error.stderr_tail})
    if facts.get("cuda_problem"):
        return Outcome("machine", FAIL, f"PyTorch has no GPU: {facts['cuda_problem']}", 0, {"facts": facts})
    return None


def check(target):
    facts = host_facts()
    obstacle = first_obstacle(target, facts)
    if obstacle:
        yield obstacle
        return
    detail = "{gpu}, driver {driver}, PyTorch {torch} (CUDA {cuda}), Python {python}, glibc {glibc}".format(**facts)
    yield judged("machine", len(facts), True, detail, facts=facts)
