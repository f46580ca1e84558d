"""Python stacks in the Pythons of other Debians, with their own C libraries, against what `traceback` says there.

Usage: debian_pythons.py [SUITE...]    as root, with debootstrap and a network; bullseye, bookworm and trixie by default

A folder with each suite is made once, build/debian/SUITE. The program of tests/integration/python_stacks runs in it
by chroot: once with the library that captures stacks, once with libvramscope.so preloaded on the simulated GPU.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from support.command import run_command  # noqa: E402
from support.paths import BUILD, PRELOAD_LIBRARY, ROOT  # noqa: E402
from support.python_stacks import assert_stacks_are_tracebacks  # noqa: E402

SUITES = ("bullseye", "bookworm", "trixie")  # Python 3.9, 3.11, 3.13; glibc 2.31, 2.36, 2.41
MIRROR = "http://deb.debian.org/debian"
PROGRAM = ROOT / "tests" / "integration" / "python_stacks"
LIBRARIES = [BUILD / "tests" / "integration" / name for name in ("libsignal_calls.so", "libstacks_probe.so")]
SIMULATED_DRIVER = BUILD / "tools" / "simgpu" / "libcuda.so.1"


def debian(suite):
    folder = ROOT / "build" / "debian" / suite
    if not (folder / "usr" / "bin" / "python3").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        print(f"{suite}: making {folder} ...", flush=True)
        command = ["debootstrap", "--variant=minbase", "--include=python3", suite, str(folder), MIRROR]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder


class Place:
    """A folder inside of a Debian, with the program and the built libraries, as long as the with statement lasts."""

    def __init__(self, debian):
        self.debian = debian

    def __enter__(self):
        self.outside = pathlib.Path(tempfile.mkdtemp(prefix="vramscope-", dir=self.debian))
        self.inside = pathlib.Path("/", self.outside.name)
        (self.debian / "proc").mkdir(exist_ok=True)
        subprocess.run(["mount", "--bind", "/proc", self.debian / "proc"], check=True)
        shutil.copytree(PROGRAM, self.outside / "program")
        for library in [*LIBRARIES, *PRELOAD_LIBRARY.parent.glob("*.so"), SIMULATED_DRIVER]:
            shutil.copy(library, self.outside)
        return self

    def __exit__(self, *details):
        subprocess.run(["umount", self.debian / "proc"], check=True)
        shutil.rmtree(self.outside)

    def run(self, *command, **variables):
        # Set inside: chroot itself is a program of this machine.
        settings = [f"{name}={value}" for name, value in variables.items()]
        return run_command(["chroot", self.debian, "/usr/bin/env", *settings, *command])

    def program(self, kind, *arguments, **variables):
        command = ["python3", self.inside / "program" / "program.py", kind, self.inside / "libsignal_calls.so"]
        result = self.run(*command, *arguments, **variables)
        assert result.status == 0 and result.stderr == "", result.describe()
        return result.stdout.strip()


def check(suite):
    with Place(debian(suite)) as place:
        code = "import sys, os; print('Python', sys.version.split()[0], os.confstr('CS_GNU_LIBC_VERSION'))"
        print(f"{suite}: {place.run('python3', '-c', code).stdout.strip()}")
        print("  captured:", place.program("probe", place.inside / "libstacks_probe.so"), flush=True)
        preloaded = {
            "LD_PRELOAD": f"{place.inside / PRELOAD_LIBRARY.name}:{place.inside / SIMULATED_DRIVER.name}",
            "VRAMSCOPE_OUTPUT": place.inside / "session",
            "VRAMSCOPE_SIM_GPU": "h100",
            "VRAMSCOPE_VERIFY_UNWIND": "1",
        }
        print("  recorded:", place.program("driver", place.inside / "answers", **preloaded), flush=True)
        compared = assert_stacks_are_tracebacks(place.outside / "answers", place.outside / "session.vrams")
        print("  equal to traceback's: {} stacks, {} frames".format(*compared), flush=True)


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit("debian_pythons.py: root is needed for debootstrap and chroot")
    for name in sys.argv[1:] or SUITES:
        check(name)
