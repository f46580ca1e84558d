"""Where the build and the tests' own results lie."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
TOOL = BUILD / "tools" / "cli" / "vramscope"
PRELOAD_LIBRARY = BUILD / "preload" / "libvramscope.so"
PYTHON = ROOT / "build" / "venv" / "bin" / "python"
ARTIFACTS = ROOT / "build" / "test-artifacts"
TORCH_TESTS = ROOT / "tests" / "torch"
