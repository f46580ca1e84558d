"""Runs the test suites of a finished build and adds them up.

Usage: run_suites.py [SUITE...]    all if none is named. Called by scripts/test.

Each suite leaves a JUnit file in build/test-results/, which is what is counted; of a build with a sanitizer, each of
its reports counts as a failure too. The last line is `N passed, N failed`; the exit status is 1 if anything failed, or
if a suite did not run to its end.
"""

import os
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree

from support import sanitizer
from support.paths import ARTIFACTS, BUILD, RESULTS, ROOT

SUITE_TIMEOUT_S = 3600
SHOWN_REPORT_CHARACTERS = 4000


def meson_suite(name):
    command = ["meson", "test", "-C", BUILD, "--no-rebuild", "--print-errorlogs"]
    return command, BUILD / "meson-logs" / "testlog.junit.xml"


def pytest_suite(name):
    result = RESULTS / f"{name}.xml"
    workers = str(os.cpu_count() or 1)
    command = [sys.executable, "-m", "pytest", ROOT / "tests" / name, "-q", "-n", workers, "--dist", "loadgroup"]
    return [*command, f"--junitxml={result}"], result


# In the order in which they run: browser looks at what torch recorded.
SUITES = {
    "unit": meson_suite,
    "integration": pytest_suite,
    "torch": pytest_suite,
    "browser": pytest_suite,
    "lint": pytest_suite,
}


def count(result):
    """(passed, failed) of a JUnit file. Skipped tests are neither: they are listed by pytest."""
    passed = failed = 0
    for case in xml.etree.ElementTree.parse(result).iter("testcase"):
        outcomes = {child.tag for child in case}
        if outcomes & {"failure", "error"}:
            failed += 1
        elif "skipped" not in outcomes:
            passed += 1
    return passed, failed


def run(name):
    """(passed, failed) of a suite; one that did not run to its end counts as a failure of its own."""
    print(f"\n== {name}", flush=True)
    command, result = SUITES[name](name)
    result.unlink(missing_ok=True)
    start = time.monotonic()
    try:
        status = subprocess.run(command, stdin=subprocess.DEVNULL, cwd=ROOT, timeout=SUITE_TIMEOUT_S).returncode
    except subprocess.TimeoutExpired:
        status = "none: stopped after an hour"
    passed, failed = count(result) if result.exists() else (0, 0)
    if status != 0 and failed == 0:
        print(f"{name}: ended with status {status} although no test failed", flush=True)
        failed += 1
    print(f"{name}: {passed} passed, {failed} failed in {time.monotonic() - start:.0f} s", flush=True)
    return passed, failed


def count_sanitizer_reports():
    """(0, failed): a process that reported may have been one whose end no test looks at."""
    reports = sanitizer.reports()
    for report in reports:
        print(f"\n== {report}\n{report.read_text(errors='replace')[:SHOWN_REPORT_CHARACTERS]}")
    return 0, len(reports)


def main():
    chosen = sys.argv[1:] or list(SUITES)
    unknown = [name for name in chosen if name not in SUITES]
    if unknown:
        sys.exit(f"scripts/test: no suite {unknown[0]}; there are: {' '.join(SUITES)}")
    RESULTS.mkdir(parents=True, exist_ok=True)
    if not sys.argv[1:]:
        shutil.rmtree(ARTIFACTS, ignore_errors=True)
    if sanitizer.IS_SANITIZED:
        sanitizer.start_reports()
    totals = [run(name) for name in SUITES if name in chosen]
    totals.append(count_sanitizer_reports())
    passed, failed = (sum(column) for column in zip(*totals))
    print(f"\n{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
