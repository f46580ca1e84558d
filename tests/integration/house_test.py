"""The house itself: what stands at the top, a README in each room, and who may include whom."""

import json
import pathlib
import re
import subprocess

import pytest

from support.paths import BUILD, TOOL

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOP_LEVEL = {"meson.build", "preload", "recorder", "tools", "tests", "scripts", "README.md", "LICENSE"}

# Room -> the rooms that it may include besides itself. The longest matching room of a file counts.
MAY_INCLUDE = {
    "preload/old_glibc": set(),
    "preload/shim": set(),
    "preload/hooks": {"preload/shim", "preload/frameworks", "preload/cupti", "recorder"},
    "preload/frameworks": {"preload/shim", "preload/hooks", "recorder"},
    "preload/cupti": {"preload/shim", "recorder"},
    "recorder": {"recorder/stacks"},
    "recorder/stacks": {"recorder"},
    "tools/model": {"recorder"},
    "tools/analysis": {"recorder", "tools/model"},
    "tools/formats": {"recorder", "tools/model"},
    "tools/cli": {"recorder", "tools/model", "tools/analysis", "tools/formats", "tools/simgpu/core"},
    "tools/simgpu/core": set(),
    "tools/simgpu/driver": {"tools/simgpu/core"},
    "tools/simgpu/runtime": {"tools/simgpu/core"},
    "tools/simgpu/libraries": {"tools/simgpu/core"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"((?:preload|recorder|tools)/[^"]+)"', re.M)


def tracked(*patterns):
    output = subprocess.run(
        ["git", "ls-files", "--", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return [line for line in output.splitlines() if line]


def room_of(path):
    matching = [room for room in MAY_INCLUDE if path.startswith(room + "/")]
    return max(matching, key=len, default=None)


def test_top_level_holds_the_rooms_and_nothing_else():
    visible = {path.split("/")[0] for path in tracked() if not path.startswith(".")}
    assert visible == TOP_LEVEL


def test_every_room_has_a_readme():
    rooms = {str(pathlib.PurePath(path).parent) for path in tracked("preload", "recorder", "tools")}
    missing = sorted(
        room
        for room in rooms
        if any(path.endswith((".cpp", ".c", ".S", ".h")) for path in tracked(room + "/*"))
        and not (ROOT / room / "README.md").exists()
    )
    assert missing == []


@pytest.mark.parametrize("room", sorted(MAY_INCLUDE))
def test_includes_follow_the_journey(room):
    sources = [p for p in tracked(f"{room}/*.h", f"{room}/*.cpp", f"{room}/*.c", f"{room}/*.S") if room_of(p) == room]
    assert sources, f"no sources in {room}: the table of this test is out of date"
    wrong = [
        f"{source} includes {included}"
        for source in sources
        for included in INCLUDE.findall((ROOT / source).read_text())
        if room_of(included) not in {room} | MAY_INCLUDE[room]
    ]
    assert wrong == []


def test_the_build_never_names_the_workplace():
    # The project stands alone: a clone without its neighbour folders builds and passes.
    names = "|".join(["\\.\\./" + "shared", "/work" + "/"])
    found = subprocess.run(
        ["git", "grep", "-InE", names, "--", "."], cwd=ROOT, capture_output=True, text=True
    ).stdout
    assert found == ""


def test_what_is_installed_is_what_a_user_builds():
    """`ninja tool`, which scripts/demo builds, makes everything that `meson install` installs."""
    installed = json.loads(
        subprocess.run(["meson", "introspect", "--installed", BUILD], capture_output=True, check=True).stdout
    )
    query = subprocess.run(
        ["ninja", "-C", BUILD, "-t", "query", "tool"], capture_output=True, text=True, check=True
    ).stdout
    made = {str(BUILD / line.lstrip(" |")) for line in query.splitlines() if line.startswith("    ")}
    assert str(TOOL) in made
    built = {path for path in installed if path.startswith(str(BUILD))}  # the others are symbolic links
    assert sorted(built - made) == []
