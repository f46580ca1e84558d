"""Whatever route a program finds the driver by, the profiler sees its calls and the program does not notice."""

import os

import pytest

from support.command import run_command, vramscope, vramscope_ok
from support.driver_log import assert_same_calls
from support.paths import BUILD, PRELOAD_LIBRARY
from support.simulation import preload_environment, simulation_variables

PROGRAMS = BUILD / "tests" / "integration"
INTERPOSER = PROGRAMS / "libinterposer.so"
COMMANDS = {
    "plt": ["driver_by_plt"],
    "plt, per-thread stream": ["driver_by_plt_per_thread"],
    "dlsym": ["driver_by_dlsym"],
    "cuGetProcAddress": ["driver_by_get_proc_address", "v1", "0"],
    "cuGetProcAddress_v2": ["driver_by_get_proc_address", "v2", "0"],
    "cuGetProcAddress_v2, legacy stream": ["driver_by_get_proc_address", "v2", "1"],
    "cuGetProcAddress_v2, per-thread stream": ["driver_by_get_proc_address", "v2", "2"],
    "runtime": ["runtime_calls"],
    "runtime, per-thread stream": ["runtime_calls_per_thread"],
}
# Successful and failed calls of every family are in it: fewer lines mean that the program gave up.
LEAST_LINES = 25
each_route = pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)


def program(command):
    return [PROGRAMS / command[0], *command[1:]]


@each_route
def test_every_call_is_recorded_and_nothing_changes(command, tmp_path):
    log = tmp_path / "driver.log"
    simulate = ("run", "--simulate", "h100x2", "-o", tmp_path / "out", "--", *program(command))
    plain = vramscope(*simulate, environment={"VRAMSCOPE_DISABLE": "1"})
    watched = vramscope(*simulate, environment={"VRAMSCOPE_SIM_LOG": str(log)})
    assert (watched.status, watched.stdout) == (plain.status, plain.stdout)
    assert plain.status == 0, plain.describe()
    assert plain.stdout.count("\n") >= LEAST_LINES
    assert_same_calls(vramscope_ok("dump", tmp_path / "out"), log.read_text())


@pytest.mark.parametrize("is_first", [True, False], ids=["before us", "behind us"])
@pytest.mark.parametrize("command", [["driver_by_plt"], ["driver_by_dlsym"]], ids=["plt", "dlsym"])
def test_another_interposer_still_sees_its_calls(command, is_first, tmp_path):
    log = tmp_path / "driver.log"
    environment = preload_environment(tmp_path / "session-%p", VRAMSCOPE_SIM_LOG=str(log))
    ours, _, simulation = environment["LD_PRELOAD"].partition(":")
    pair = [INTERPOSER, ours] if is_first else [ours, INTERPOSER]
    environment["LD_PRELOAD"] = ":".join(map(str, [*pair, simulation]))
    result = run_command(program(command), environment=environment)
    assert result.status == 0, result.describe()
    # Three in linear memory (one of them too big, one of 0 bytes), one in a context of its own.
    assert result.stderr == "interposer: 4 allocations\n"
    (session,) = tmp_path.glob("session-*.vrams")
    assert_same_calls(vramscope_ok("dump", session), log.read_text())


LOOK_FOR_A_DRIVER = """
import ctypes
program = ctypes.CDLL(None)
dlsym = program.dlsym
dlsym.restype, dlsym.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]
program.dlerror.restype = ctypes.c_char_p
for handle in (None, program._handle):
    found = dlsym(handle, b"cuMemAlloc_v2")
    print(found, b"undefined symbol: cuMemAlloc_v2" in program.dlerror())
print(dlsym(None, b"malloc") is not None, program.dlerror())
"""


@pytest.mark.parametrize("disable", ["", "1"])
def test_our_symbols_do_not_feign_a_driver(disable):
    command = ["python3", "-c", LOOK_FOR_A_DRIVER]
    alone = run_command(command)
    watched = run_command(command, environment={"LD_PRELOAD": str(PRELOAD_LIBRARY), "VRAMSCOPE_DISABLE": disable})
    assert alone.stdout == "None True\nNone True\nTrue None\n"
    assert watched == alone


def loaded_libraries(command, environment):
    result = run_command(command, environment={**environment, "LD_DEBUG": "files"})
    return {os.path.basename(word) for word in result.stderr.split() if ".so" in word}


def test_the_core_is_loaded_by_the_first_memory_call_only(tmp_path):
    without_cuda = loaded_libraries(["bash", "-c", ":"], {"LD_PRELOAD": str(PRELOAD_LIBRARY)})
    assert "libvramscope.so" in without_cuda
    environment = preload_environment(tmp_path / "session-%p")
    with_cuda = loaded_libraries(program(["driver_by_dlsym"]), environment)
    disabled = loaded_libraries(program(["driver_by_dlsym"]), {**environment, "VRAMSCOPE_DISABLE": "1"})
    seen = ["libvramscope_core.so" in libraries for libraries in (without_cuda, with_cuda, disabled)]
    assert seen == [False, True, False]


def test_a_missing_core_is_said_once_and_changes_nothing(tmp_path):
    lonely = tmp_path / PRELOAD_LIBRARY.name
    lonely.write_bytes(PRELOAD_LIBRARY.read_bytes())
    variables = simulation_variables("h100")
    plain = run_command(program(["driver_by_dlsym"]), environment=variables)
    environment = {**variables, "LD_PRELOAD": f"{lonely}:{variables['LD_PRELOAD']}"}
    watched = run_command(program(["driver_by_dlsym"]), environment=environment)
    assert (watched.status, watched.stdout) == (plain.status, plain.stdout)
    (line,) = watched.stderr.splitlines()
    assert line.startswith(f"vramscope: {tmp_path}/libvramscope_core.so: ")
    assert "nothing is recorded" in line
