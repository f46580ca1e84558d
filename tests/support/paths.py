"""Where the build and the tests' own results lie."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
TOOL = BUILD / "tools" / "cli" / "vramscope"
PRELOAD_LIBRARY = BUILD / "preload" / "libvramscope.so"
PYTHON = pathlib.Path(os.environ.get("GPU_CHECK_PYTHON") or ROOT / "build" / "venv" / "bin" / "python")
ARTIFACTS = ROOT / "build" / "test-artifacts"
TORCH_TESTS = ROOT / "tests" / "torch"
