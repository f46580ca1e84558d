"""Runs a case twice under PyTorch's own history, with and without the profiler, and keeps what came out.

build/test-artifacts/CASE/{profiled,plain}/ hold: sessions/ (profiled only), torch-PID.pickle (PyTorch's
account, see tests/torch/harness/history.py), driver.log, result.json. A recording is made once and used by
all tests; it is made again when the tool, its libraries or the scripts changed.
"""

import fcntl
import functools
import hashlib
import json
import pickle
import shutil

import pytest

from support.command import Result, vramscope, vramscope_ok
from support.paths import ARTIFACTS, BUILD, PYTHON, TORCH_TESTS
from support.permissions import why_no_descriptor_of_others

PROFILED, PLAIN = "profiled", "plain"


class Recording:
    def __init__(self, case):
        self.case = case
        self.folder = ARTIFACTS / case.name
        self.sessions = self.folder / PROFILED / "sessions"

    def result(self, side=PROFILED):
        return Result(**json.loads((self.folder / side / "result.json").read_text()))

    def driver_log(self, side=PROFILED):
        return (self.folder / side / "driver.log").read_text()

    def dump(self):
        return vramscope_ok("dump", self.sessions)

    @functools.cache
    def torch_accounts(self, side=PROFILED):
        """{pid: PyTorch's account} of the processes that used the GPU, in the order in which they started."""
        files = sorted((self.folder / side).glob("torch-*.pickle"), key=lambda file: int(file.stem.split("-")[1]))
        accounts = {int(file.stem.split("-")[1]): pickle.loads(file.read_bytes()) for file in files}
        return {pid: account for pid, account in accounts.items() if used_the_gpu(account)}

    @functools.cache
    def report(self):
        """{pid: process} of `vramscope report --json`."""
        report = json.loads(vramscope_ok("report", "--json", self.sessions))
        return {process["pid"]: process for process in report["processes"]}

    @functools.cache
    def snapshot(self, pid):
        return pickle.loads(self.snapshot_file(pid).read_bytes())

    def snapshot_file(self, pid):
        file = self.folder / f"snapshot-{pid}.pickle"
        if not file.exists():
            (session,) = self.sessions.glob(f"*-{pid}.vrams")
            vramscope_ok("snapshot", session, "-o", file)
        return file


def used_the_gpu(account):
    return any(device["peak_reserved_bytes"] for device in account["devices"])


@functools.cache
def recording_of(case):
    recording = Recording(case)
    if case.takes_descriptors and why_no_descriptor_of_others():
        pytest.skip(f"pidfd_getfd: {why_no_descriptor_of_others()}: PyTorch cannot share expandable segments here")
    ARTIFACTS.mkdir(parents=True, exist_ok=True)
    with open(ARTIFACTS / f"{case.name}.lock", "w") as lock:  # two test workers may ask at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = recording.folder / "made-from"
        wanted = fingerprint(case)
        if not stamp.exists() or stamp.read_text() != wanted:
            shutil.rmtree(recording.folder, ignore_errors=True)
            for side in (PROFILED, PLAIN):
                record(recording, side)
            stamp.write_text(wanted)
    return recording


def record(recording, side):
    case, folder = recording.case, recording.folder / side
    folder.mkdir(parents=True)
    environment = {
        "VRAMSCOPE_SIM_LOG": str(folder / "driver.log"),
        # Both sides compile: neither finds what the other, or an earlier run, left.
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"),
        "TRITON_CACHE_DIR": str(folder / "triton"),
    }
    if case.allocator:
        environment["PYTORCH_CUDA_ALLOC_CONF"] = case.allocator
    if side == PLAIN:
        environment["VRAMSCOPE_DISABLE"] = "1"
    result = vramscope(
        *("run", "--simulate", case.gpu, *case.run_options, "-o", folder / "sessions", "--"),
        *(PYTHON, TORCH_TESTS / "harness" / "with_history.py", folder, TORCH_TESTS / case.script, *case.arguments),
        environment=environment,
    )
    (folder / "result.json").write_text(json.dumps(vars(result), indent=1))


def fingerprint(case):
    """Changes when anything changes that a recording depends on."""
    digest = hashlib.sha256(repr(case).encode())
    libraries = sorted((BUILD / "preload").glob("*.so*")) + sorted((BUILD / "tools" / "simgpu").rglob("*.so*"))
    sources = sorted((TORCH_TESTS / "harness").glob("*.py")) + [TORCH_TESTS / case.script]
    for file in [BUILD / "tools" / "cli" / "vramscope", *libraries, *sources]:
        if file.is_file():
            status = file.stat()
            digest.update(f"{file} {status.st_mtime_ns} {status.st_size}\n".encode())
    return digest.hexdigest()
