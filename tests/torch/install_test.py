"""What `meson install` puts below a prefix works there, and nothing points back into the build."""

import json

from support.command import run_command, vramscope_ok
from support.paths import BUILD, PYTHON

ALLOCATE = "import torch; kept = torch.ones(1 << 20, device='cuda'); print(torch.cuda.memory_allocated())"


def test_installed_tool_profiles_pytorch(tmp_path):
    installed = run_command(["meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", tmp_path / "root"])
    assert installed.status == 0, installed.describe()
    (tool,) = (tmp_path / "root").rglob("bin/vramscope")
    profiled = run_command([tool, "run", "--simulate", "h100", "-o", tmp_path / "out", "--", PYTHON, "-c", ALLOCATE])
    assert (profiled.status, profiled.stdout) == (0, "4194304\n"), profiled.describe()
    (process,) = json.loads(vramscope_ok("report", "--json", tmp_path / "out"))["processes"]
    assert process["devices"][0]["peak_allocated_bytes"] == 4194304
