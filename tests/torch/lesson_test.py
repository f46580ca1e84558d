"""The lesson's numbers: what two training scripts with known answers must show."""

import pytest

from cases import BY_NAME
from support import events
from support.paths import TORCH_TESTS
from support.recordings import recording_of

WORKSPACE_BYTES = (1 << 20, 64 << 20)  # cuBLAS's, between the example's small and large tensors


def line_of(script, text):
    """The number of the one line of a script that holds a text."""
    lines = (TORCH_TESTS / script).read_text().splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if text in line]
    return number


def script_line(event, script):
    """The line of the script that an event came from, None if from elsewhere."""
    path = str(TORCH_TESTS / script)
    return next((line for file, line, _ in events.python_frames(event) if file == path), None)


def only_process(recording):
    (pid,) = recording.torch_accounts()
    return recording.snapshot(pid)["device_traces"][0]


@pytest.mark.xdist_group("linear")
def test_linear_allocates_the_lessons_bytes_at_the_lessons_lines():
    script = "examples/linear.py"
    recording = recording_of(BY_NAME["linear"])
    model, inputs, outputs = (
        line_of(script, text) for text in ("nn.Linear(", "inputs = torch.randn(", "outputs = model(")
    )
    lesson = [(model, 2_000_000_000), (model, 200_000)] + 3 * [(inputs, 200_000_000), (outputs, 1_000_000_000)]
    assert tensors_by_line(only_process(recording), script) == lesson


def tensors_by_line(trace, script):
    """[(line of the script, bytes)] of what it allocated, but for the workspace of the matrix product."""
    allocations = [event for event in trace if event["action"] == "alloc"]
    placed = [(script_line(event, script), event["size"]) for event in allocations]
    return [(line, size) for line, size in placed if line and not WORKSPACE_BYTES[0] <= size <= WORKSPACE_BYTES[1]]


def peaks_by_phase(trace, script):
    """Peak of the allocated bytes in the first step's forward pass, backward pass and optimizer step.

    The backward pass runs in threads without Python frames: it is what lies between the two others.
    """
    forward, step, next_inputs = (
        line_of(script, text) for text in ("logits = model(", "optimizer.step()", "tokens = torch.randint(")
    )
    lines = [script_line(event, script) for event in trace]
    first_inputs = lines.index(next_inputs)
    last_forward = max(i for i in range(lines.index(forward), lines.index(step)) if lines[i] == forward)
    first_update = lines.index(step)
    second_inputs = lines.index(next_inputs, first_update)
    bounds = [(first_inputs, last_forward), (last_forward + 1, first_update - 1), (first_update, second_inputs - 1)]

    allocated, after, sizes = 0, [], {}
    for event in trace:
        if event["action"] == "alloc":
            sizes[event["addr"]] = event.get("block_size", event["size"])
            allocated += sizes[event["addr"]]
        elif event["action"] == "free_requested":
            allocated -= sizes.pop(event["addr"])
        after.append(allocated)
    return [max(after[begin : end + 1]) for begin, end in bounds]


def gigabytes(values):
    return [round(value / 1e9, 2) for value in values]


@pytest.mark.xdist_group("qwen_batch_2")
def test_qwen_at_batch_2_peaks_in_the_optimizer_step():
    trace = only_process(recording_of(BY_NAME["qwen_batch_2"]))
    assert gigabytes(peaks_by_phase(trace, "examples/qwen_adamw.py")) == [9.33, 14.53, 31.19]


@pytest.mark.xdist_group("qwen_batch_2")
def test_qwen_has_the_lessons_parameters():
    assert recording_of(BY_NAME["qwen_batch_2"]).result().stdout.splitlines()[0] == "parameters 1543714304"


@pytest.mark.xdist_group("qwen_batch_16")
def test_qwen_at_batch_16_peaks_in_the_backward_pass():
    recording = recording_of(BY_NAME["qwen_batch_16"])
    ((_, process),) = recording.report().items()
    assert gigabytes([process["devices"][0]["peak_allocated_bytes"]]) == [46.89]
