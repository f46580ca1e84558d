"""Prints, as one line of JSON, what PyTorch and the driver are here. What cannot be had is null."""

import ctypes
import json
import platform
import re

import torch


def or_none(question):
    try:
        return question()
    except Exception:  # noqa: BLE001
        return None


def cuda_problem():
    try:
        torch.cuda.init()
        torch.empty(1, device="cuda")
    except Exception as error:  # noqa: BLE001
        return str(error).splitlines()[0]
    return None


def driver_version():
    version = ctypes.c_int()
    if ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version)) != 0:
        return None
    return f"{version.value // 1000}.{version.value % 1000 // 10}"


def nvml_driver_version():
    nvml = ctypes.CDLL("libnvidia-ml.so.1")
    text = ctypes.create_string_buffer(96)
    if nvml.nvmlInit_v2() != 0 or nvml.nvmlSystemGetDriverVersion(text, len(text)) != 0:
        return None
    return text.value.decode()


def loaded(pattern):
    """Files in this process whose name matches."""
    return sorted(set(re.findall(rf"/\S*{pattern}\S*", open("/proc/self/maps").read())))


problem = cuda_problem()
facts = {
    "python": platform.python_version(),
    "torch": torch.__version__,
    "cuda": torch.version.cuda,
    "cuda_problem": problem,
    "gpu": or_none(lambda: torch.cuda.get_device_name(0)),
    "gpus": or_none(torch.cuda.device_count),
    "gpu_bytes": or_none(lambda: torch.cuda.get_device_properties(0).total_memory),
    "capability": or_none(lambda: "%d.%d" % torch.cuda.get_device_capability(0)),
    "allocator": or_none(torch.cuda.get_allocator_backend),
    "driver": or_none(driver_version),
    "driver_package": or_none(nvml_driver_version),
    "nccl": or_none(lambda: ".".join(map(str, torch.cuda.nccl.version()))),
    "cudnn": or_none(torch.backends.cudnn.version),
    "libraries": or_none(lambda: loaded("lib(?:cuda|cudart|cupti|cublas|nvidia-ml)[.]so")),
}
print(json.dumps(facts))
