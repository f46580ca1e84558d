"""The PyTorch scripts that are profiled, each with the GPU and the settings it is for."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    script: str  # below tests/torch/
    arguments: tuple = ()
    gpu: str = "h100"
    run_options: tuple = ()  # of `vramscope run`
    allocator: str = ""  # PYTORCH_CUDA_ALLOC_CONF
    status: int = 0  # what the script ends with
    takes_descriptors: bool = False  # from another process: not every container allows it
    has_history: bool = True  # PyTorch's history knows its native allocator only

    def __str__(self):
        return self.name


CASES = [
    Case("linear", "examples/linear.py"),
    Case("qwen_batch_2", "examples/qwen_adamw.py", ("2",)),
    Case("qwen_batch_16", "examples/qwen_adamw.py", ("16",)),
    Case("adamw_foreach", "scripts/train_adamw.py", ("foreach",)),
    Case("adamw_fused", "scripts/train_adamw.py", ("fused",)),
    Case("record_stream", "scripts/record_stream.py"),
    Case("record_stream_lag", "scripts/record_stream.py", run_options=("--simulate-lag", "50")),
    Case("cuda_graph", "scripts/cuda_graph.py"),
    Case("mem_pool", "scripts/mem_pool.py"),
    Case("green_context", "scripts/green_context.py"),
    Case("four_threads", "scripts/four_threads.py"),
    Case("out_of_memory", "scripts/out_of_memory.py", gpu="2GiB"),
    Case("expandable_segments", "scripts/fragments.py", allocator="expandable_segments:True"),
    Case(
        "expandable_two_streams", "scripts/fragments.py", ("two-streams",), allocator="expandable_segments:True"
    ),
    Case("max_split_size", "scripts/fragments.py", ("two-streams",), allocator="max_split_size_mb:20"),
    Case("pressure_split", "scripts/pressure.py", gpu="1GiB", allocator="max_split_size_mb:40"),
    Case(
        "pressure_expandable",
        "scripts/pressure.py",
        gpu="1GiB",
        run_options=("--simulate-lag", "30"),
        allocator="expandable_segments:True",
    ),
    Case("two_devices", "scripts/two_devices.py", gpu="h100x2"),
    Case("ddp", "scripts/ddp.py", gpu="h100x2"),
    Case("shared_tensors", "scripts/shared_tensors.py"),
    Case(
        "shared_tensors_expandable",
        "scripts/shared_tensors.py",
        allocator="expandable_segments:True",
        takes_descriptors=True,
    ),
    Case("loader_workers", "scripts/loader_workers.py"),
    Case("compiled", "scripts/compiled.py"),
    Case("python_shapes", "scripts/python_shapes.py"),
    Case("convolutions_and_gru", "scripts/convolutions_and_gru.py"),
    Case("uncaught_exception", "scripts/exits_with_status.py", status=1),
    Case("exit_status_3", "scripts/exits_with_status.py", ("3",), status=3),
    Case("cuda_malloc_async", "scripts/fragments.py", allocator="backend:cudaMallocAsync", has_history=False),
]

BY_NAME = {case.name: case for case in CASES}
