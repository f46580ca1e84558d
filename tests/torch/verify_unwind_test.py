"""Every native stack of some scripts, compared with what libgcc's unwinder says in the same moment."""

import re

import pytest

from cases import BY_NAME
from support.command import vramscope
from support.paths import PYTHON, TORCH_TESTS

SUMMARY = re.compile(
    r"vramscope: ([\d,]+) native stacks compared with _Unwind_Backtrace, ([\d,]+) differ; ([\d,]+) were walked by it\n"
)


@pytest.mark.parametrize("name", ["python_shapes", "four_threads"])
def test_every_stack_is_what_libgcc_says(name, tmp_path):
    case = BY_NAME[name]
    result = vramscope(
        *("run", "--simulate", case.gpu, "--verify-unwind", "-o", tmp_path / "sessions", "--"),
        *(PYTHON, TORCH_TESTS / case.script, *case.arguments),
    )
    assert result.status == 0, result.describe()
    assert "differs from" not in result.stderr
    compared, different, _ = (int(number.replace(",", "")) for number in SUMMARY.search(result.stderr).groups())
    assert compared > 100
    assert different == 0
