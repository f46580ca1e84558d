"""Every byte counted once, under its kind and its owner; the figures were added up by hand from the programs."""

import json

from support.command import vramscope, vramscope_ok
from support.driver_log import assert_same_calls
from support.paths import BUILD

PROGRAMS = BUILD / "tests" / "integration" / "accounting"
MIB = 1 << 20


def processes_of(program, folder, gpu, *arguments):
    """The processes of `report --json`, after their calls were compared with those that the driver served."""
    log = folder / "driver.log"
    result = vramscope(
        *("run", "--simulate", gpu, "-o", folder / "out", "--", PROGRAMS / program, *arguments),
        environment={"VRAMSCOPE_SIM_LOG": str(log)},
    )
    assert result.status == 0, result.describe()
    assert_same_calls(vramscope_ok("dump", folder / "out"), log.read_text())
    processes = json.loads(vramscope_ok("report", "--json", folder / "out"))["processes"]
    assert {(process["lost_events"], process["repairs"]) for process in processes} == {(0, 0)}
    return processes


def process_of(*arguments):
    (process,) = processes_of(*arguments)
    return process


def uses_by_kind(process):
    """{(kind, device): (peak bytes and count, live bytes and count)}"""
    keys = ("peak_bytes", "peak_count", "live_bytes", "live_count")
    return {(kind["kind"], kind["device"]): tuple(kind[key] for key in keys) for kind in process["kinds"]}


# (kind, device): peak bytes and count, live bytes and count
KINDS = {
    ("context", 0): (None, 1, None, 1),
    ("context", 1): (None, 2, None, 1),
    ("linear", 0): (4 * MIB, 2, 3 * MIB, 1),
    ("managed", 0): (MIB, 1, MIB, 1),
    ("stream_ordered", 0): (5 * MIB, 1, 5 * MIB, 1),
    ("stream_ordered", 1): (5 * MIB, 2, 5 * MIB, 2),
    ("physical", 0): (8 * MIB, 2, 8 * MIB, 2),
    ("physical", 1): (4 * MIB, 1, 4 * MIB, 1),
    ("mapped", 0): (2 * MIB, 1, 2 * MIB, 1),
    ("mapped", 1): (4 * MIB, 1, 0, 0),
    ("address_space", None): (18 * MIB, 2, 16 * MIB, 1),
    ("array", 0): (32768, 1, 8 * 8 * 8 * 4 + 4 * 4 * 4 * 4, 1),
    ("graph_node", 0): (4 * MIB, 2, 3 * MIB, 1),
    ("pinned_host", None): (11000, 2, 5000, 1),
    ("registered_host", None): (12288, 2, 8192, 1),
}


def test_kinds_of_memory_are_told_apart(tmp_path):
    process = process_of("kinds_program", tmp_path, "h100x2")
    assert uses_by_kind(process) == KINDS
    # Linear, managed, mapped, the array; nothing that is imported, in a graph, or mapped nowhere.
    live = {device["device"]: device["live_bytes"] for device in process["devices"]}
    assert live == {0: (3 + 1 + 5 + 2) * MIB + 2304, 1: 5 * MIB}
    assert process["host_memory"] == {
        "pinned_peak_bytes": 11000,
        "pinned_live_bytes": 5000,
        "registered_live_bytes": 8192,
    }


def test_the_report_shows_the_kinds(tmp_path):
    process_of("kinds_program", tmp_path, "h100x2")
    text = vramscope_ok("report", tmp_path / "out")
    table = text[text.index("What the driver was asked for, by kind") :].splitlines()
    rows = [line.split() for line in table[2:]]
    assert ["1", "context", "?", "2", "?", "1"] in rows
    assert ["0", "physical", "8.00", "MiB", "2", "8.00", "MiB", "2"] in rows
    assert ["1", "mapped", "4.00", "MiB", "1", "0", "B", "0"] in rows
    assert ["-", "address", "space", "18.00", "MiB", "2", "16.00", "MiB", "1"] in rows
    assert len(rows) == len(KINDS)


def test_memory_belongs_to_the_library_that_called(tmp_path):
    process = process_of("owners_program", tmp_path, "h100")
    (device,) = process["devices"]
    assert device["owners"] == [
        {"owner": "NCCL", "bytes": 12 * MIB},  # 8 MiB of it on behalf of another library
        {"owner": "owners_program", "bytes": 5 * MIB},
        {"owner": "cuBLAS", "bytes": 3 * MIB},
        {"owner": "cuDNN", "bytes": 3 * MIB},
        {"owner": "libmine.so", "bytes": 4000},
    ]
    assert device["peak_allocated_bytes"] == sum(owner["bytes"] for owner in device["owners"])


def test_libraries_that_were_loaded_at_the_same_addresses_are_told_apart(tmp_path):
    libraries = [PROGRAMS / "libmine.so", PROGRAMS / "libnccl_of_test.so"]
    process = process_of("reload_program", tmp_path, "h100", *libraries)
    (device,) = process["devices"]
    assert device["owners"] == [{"owner": "NCCL", "bytes": 6 * MIB}, {"owner": "libmine.so", "bytes": 3 * MIB}]
    names = {use["bytes"]: {frame["name"] for frame in use["frames"]} for use in device["top"]}
    assert "nccl_take_linear" in names[6 * MIB]
    assert "mine_take_linear" in names[3 * MIB]


def test_shared_memory_is_counted_by_its_owner_alone(tmp_path):
    owner, user = processes_of("share_program", tmp_path, "h100")
    if not owner["devices"]:
        owner, user = user, owner
    assert uses_by_kind(owner) == {
        ("context", 0): (None, 1, None, 1),
        ("linear", 0): (8 * MIB, 1, 8 * MIB, 1),
        ("physical", 0): (4 * MIB, 1, 4 * MIB, 1),
        ("mapped", 0): (4 * MIB, 1, 4 * MIB, 1),
        ("address_space", None): (4 * MIB, 1, 4 * MIB, 1),
    }
    # The call that opens linear memory tells its device and no size; an imported handle's shows where it is mapped.
    assert uses_by_kind(user) == {
        ("context", 0): (None, 1, None, 1),
        ("imported", 0): (0, 1, 0, 0),
        ("imported", None): (4 * MIB, 1, 4 * MIB, 1),
        ("address_space", None): (4 * MIB, 1, 4 * MIB, 1),
    }
    assert [device["live_bytes"] for device in owner["devices"]] == [12 * MIB]
    assert user["devices"] == []
