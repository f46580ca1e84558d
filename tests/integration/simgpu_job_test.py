"""The processes of one `run --simulate` share the memory of their GPUs; those of two do not."""

from pathlib import Path

from support.command import vramscope
from support.paths import PYTHON

PROGRAM = Path(__file__).with_name("simgpu_job_program.py")


def test_processes_share_the_gpu_and_dead_ones_take_nothing(tmp_path):
    result = vramscope(
        *("run", "--simulate", "1GiB", "--simulate-context", "20MiB", "-o", tmp_path / "out", "--", PYTHON, PROGRAM)
    )
    assert result.status == 0, result.describe()
    assert result.stdout.splitlines() == [
        "alone 20",
        "first child allocated 640",  # 20 + 20 + 600
        "second child out of memory 660",
        "parent 0 960",
        "second child ended 940",
        "first child was killed 320",
        "parent 2 320",  # 704 MiB are free
    ]
