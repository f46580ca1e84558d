"""Memory that no allocation call tells of (context, cuBLAS, NCCL), as NVML sees it beside the recording."""

import json
import pathlib

from target import judged

JOB = pathlib.Path(__file__).parent / "jobs" / "invisible_memory.py"
TENSOR_BYTES = 1 << 30
# Others may use the GPU meanwhile, and the driver takes memory in pieces.
TOLERANCE_BYTES = 64 << 20


def check(target):
    sessions = target.folder / "invisible" / "sessions"
    figures = {}
    output = target.profiled_output("invisible", [JOB, TENSOR_BYTES])
    for phase in json.loads(output.splitlines()[-1]):
        figures[f"{phase['name']}_nvml_bytes"] = phase["nvml_bytes"]
        figures[f"{phase['name']}_pytorch_bytes"] = phase["pytorch_bytes"]
    (process,) = target.report(sessions)
    recorded = process["devices"][0]["live_reserved_bytes"]
    seen = figures["tensor_nvml_bytes"]
    yield judged(
        "memory: a tensor of 1 GiB is as large for NVML",
        abs(seen - TENSOR_BYTES) <= TOLERANCE_BYTES,
        f"NVML saw {seen:,} B more",
        **figures,
    )
    total = sum(value for name, value in figures.items() if name.endswith("nvml_bytes"))
    yield judged(
        "memory: the recording holds no more than NVML sees",
        0 < recorded <= total + TOLERANCE_BYTES,
        f"recorded {recorded:,} B of {total:,} B; not in any call: {total - recorded:,} B",
        recorded_bytes=recorded,
        invisible_bytes=total - recorded,
    )
