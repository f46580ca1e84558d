"""Where the build and the tests' own results lie. $TEST_BUILD names another build than `release`."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / os.environ.get("TEST_BUILD", "release")
TOOL = BUILD / "tools" / "cli" / "vramscope"
PRELOAD_LIBRARY = BUILD / "preload" / "libvramscope.so"
PYTHON = pathlib.Path(os.environ.get("GPU_CHECK_PYTHON") or ROOT / "build" / "venv" / "bin" / "python")
RESULTS = (ROOT / "build" if BUILD.name == "release" else BUILD) / "test-results"
ARTIFACTS = ROOT / "build" / "test-artifacts"
TORCH_TESTS = ROOT / "tests" / "torch"
