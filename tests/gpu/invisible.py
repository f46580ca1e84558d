"""Memory that no allocation call tells of (context, cuBLAS, NCCL), as NVML sees it beside the recording."""

import json
import pathlib

from outcome import FAIL, SKIPPED, Outcome, judged

JOB = pathlib.Path(__file__).parent / "jobs" / "invisible_memory.py"
TENSOR_BYTES = 1 << 30
# Others may use the GPU meanwhile, and the driver takes memory in pieces.
TOLERANCE_BYTES = 64 << 20


def phase_outcome(target, phase, tensor_seen):
    name, problem = f"invisible memory: {phase['name']}", phase["problem"]
    if problem:
        yield Outcome(name, SKIPPED, problem)
    elif phase["name"] == "tensor":
        detail = f"a tensor of {TENSOR_BYTES:,} B: NVML saw {tensor_seen:,} B more"
        yield judged(name, 1, abs(tensor_seen - TENSOR_BYTES) <= TOLERANCE_BYTES, detail, **phase)
    else:
        hidden = phase["nvml_bytes"] - phase["pytorch_bytes"]
        reserved = f"PyTorch reserved {phase['pytorch_bytes']:,}"
        detail = f"NVML saw {phase['nvml_bytes']:,} B more, {reserved}: {hidden:,} B beside it"
        yield judged(name, 1, hidden >= -TOLERANCE_BYTES, detail, invisible_bytes=hidden, **phase)


def check(target):
    sessions, stdout, _ = target.profiled("invisible", [JOB, TENSOR_BYTES])
    answer = json.loads(stdout.splitlines()[-1])
    if answer["problem"]:
        yield Outcome("invisible memory", FAIL, f"NVML: {answer['problem']}")
        return
    phases = answer["phases"]
    for phase in phases:
        yield from phase_outcome(target, phase, phase["nvml_bytes"])
    process = target.report(sessions)
    device = process["devices"][0]
    kinds = {kind["kind"]: kind for kind in process["kinds"] if kind["device"] == device["device"]}
    recorded = device["live_reserved_bytes"]
    total = sum(phase["nvml_bytes"] for phase in phases)
    detail = f"recorded {recorded:,} B of the {total:,} that NVML saw; in no call: {total - recorded:,} B"
    yield judged(
        "invisible memory: NVML against the recording",
        1,
        TENSOR_BYTES <= recorded <= total + TOLERANCE_BYTES,
        detail,
        recorded_bytes=recorded,
        invisible_bytes=total - recorded,
        owners=device["owners"],
        kinds=kinds,
    )
