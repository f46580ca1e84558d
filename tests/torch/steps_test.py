"""Optimizer steps of scripts whose numbers of steps are known: every call of step() is counted once."""

import json

from support.command import vramscope, vramscope_ok
from support.paths import PYTHON, TORCH_TESTS

SCRIPT = TORCH_TESTS / "scripts" / "optimizer_steps.py"
MIB = 1 << 20

# By the script's function and, where that has two optimizers, in the order of their first steps.
CALLS = {
    ("adamw_foreach", "step"): [6],
    ("adamw_foreach", "zero_grad"): [6],
    ("adamw_fused", "step"): [5],
    ("adamw_fused", "zero_grad"): [5],
    ("sgd_without_momentum", "step"): [7],
    ("sgd_without_momentum", "zero_grad"): [7],
    ("steps_without_anything_between", "step"): [8],
    ("accumulated_gradients", "step"): [3],
    ("accumulated_gradients", "zero_grad"): [3],
    ("two_optimizers", "step"): [9, 3],
    ("loss_scaling", "step"): [4],
    ("loss_scaling", "zero_grad"): [4],
    ("closure", "step"): [2],
    ("nested", "step"): [10],
    ("leaking", "step"): [11],
    ("leaking", "zero_grad"): [11],
}


def users_function(entry):
    return next(frame["name"] for frame in entry["frames"] if frame["filename"] == str(SCRIPT))


def test_every_step_is_counted_once(tmp_path):
    run = vramscope("run", "--simulate", "h100", "-o", tmp_path / "out", "--", PYTHON, SCRIPT)
    assert run.status == 0, run.describe()
    (process,) = json.loads(vramscope_ok("report", "--json", tmp_path / "out"))["processes"]
    (device,) = process["devices"]
    assert process["lost_events"] == 0
    calls, growth = {}, {}
    for entry in device["steps"]:
        key = users_function(entry), entry["kind"]
        calls.setdefault(key, []).append(entry["count"])
        growth.setdefault(key, []).append(entry["growth_bytes_per_step"])
        assert len(entry["peak_allocated_bytes"]) == entry["count"]
        assert max(entry["peak_allocated_bytes"]) <= device["peak_allocated_bytes"]
    assert calls == CALLS
    assert growth.pop(("leaking", "step")) == [MIB]
    assert growth.pop(("leaking", "zero_grad")) == [MIB]
    assert growth.pop(("closure", "step")) == [None]  # two are too few to tell
    assert {value for values in growth.values() for value in values} == {0}
    assert device["peak_allocated_bytes"] == max(max(entry["peak_allocated_bytes"]) for entry in device["steps"])
    text = vramscope_ok("report", "--top", "0", tmp_path / "out")
    assert "Optimizer steps" in text and "zero_grad" not in text


COMPILED = """
import torch
model = torch.nn.Linear(64, 64).cuda()
optimizer = torch.optim.AdamW(model.parameters())
step = torch.compile(lambda: optimizer.step(), backend="eager")
for _ in range(4):
    model(torch.randn(8, 64, device="cuda")).sum().backward()
    step()
    optimizer.zero_grad()
"""


def test_steps_that_cannot_be_seen_are_not_guessed(tmp_path):
    run = vramscope("run", "--simulate", "h100", "-o", tmp_path / "out", "--", PYTHON, "-c", COMPILED)
    assert run.status == 0, run.describe()
    (process,) = json.loads(vramscope_ok("report", "--json", tmp_path / "out"))["processes"]
    assert [(entry["kind"], entry["count"]) for entry in process["devices"][0]["steps"]] == [("zero_grad", 4)]
    assert "No optimizer's step() was seen" in vramscope_ok("report", tmp_path / "out")
