"""The built stand-ins against their tables, and both against the libraries that they stand in for."""

import glob
import re
import subprocess
import sys

import pytest

from support.paths import BUILD, PYTHON, ROOT
from support.sanitizer import not_sanitized

SIMGPU = ROOT / "tools" / "simgpu"
BUILT = BUILD / "tools" / "simgpu"
SITE_PACKAGES = glob.glob(str(PYTHON.parents[1] / "lib" / "python3*" / "site-packages"))[0]

# What a job finds by name, so exactly the SONAMEs of the CUDA 13 wheels.
TABLES = {
    "libcublas.so.13": "libraries/tables/cublas.txt",
    "libcublasLt.so.13": "libraries/tables/cublasLt.txt",
    "libcudart.so.13": "runtime/exports.txt",
    "libcudnn.so.9": "libraries/tables/cudnn.txt",
    "libcufft.so.12": "libraries/tables/cufft.txt",
    "libcupti.so.13": "libraries/tables/cupti.txt",
    "libcusolver.so.12": "libraries/tables/cusolver.txt",
    "libcusparse.so.12": "libraries/tables/cusparse.txt",
    "libcusparseLt.so.0": "libraries/tables/cusparseLt.txt",
    "libnccl.so.2": "libraries/tables/nccl.txt",
    "libnvidia-ml.so.1": "libraries/tables/nvidia-ml.txt",
    "libnvshmem_host.so.3": "libraries/tables/nvshmem_host.txt",
}


def exported(path):
    """Name -> symbol version ("" for none) of what a library exports."""
    output = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    symbols = {}
    for line in output.splitlines():
        *_, kind, symbol = line.split()
        name, _, version = symbol.replace("@@", "@").partition("@")
        if kind != "A":  # the version's own name
            symbols[name] = version
    return symbols


def table_names(table):
    lines = (SIMGPU / table).read_text().splitlines()
    return {line.split()[0] for line in lines if line.strip() and line[0] not in "#@"}


@pytest.mark.parametrize("library", TABLES)
def test_exports_what_its_table_lists_and_nothing_else(library):
    assert set(exported(BUILT / library)) == table_names(TABLES[library])


@not_sanitized(reason="a sanitizer's runtime is needed too")
@pytest.mark.parametrize("library", TABLES)
def test_has_the_soname_of_the_original_and_needs_only_an_old_libc(library):
    dynamic = subprocess.run(["readelf", "-d", BUILT / library], capture_output=True, text=True, check=True).stdout
    assert re.findall(r"SONAME.*\[(.*)\]", dynamic) == [library]
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", dynamic))
    assert needed <= {"libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0", "ld-linux-x86-64.so.2"}
    wanted = subprocess.run(["readelf", "-V", BUILT / library], capture_output=True, text=True, check=True).stdout
    versions = {int(minor) for minor in re.findall(r"Name: GLIBC_2\.(\d+)", wanted)}
    assert versions and max(versions) <= 28
    assert "BIND_NOW" in dynamic
    assert "SYMBOLIC" in dynamic


@pytest.mark.parametrize("library", [name for name in TABLES if name != "libnvidia-ml.so.1"])
def test_symbols_have_the_versions_of_the_original(library):
    original = exported(glob.glob(f"{SITE_PACKAGES}/nvidia/*/lib/{library}")[0])
    ours = exported(BUILT / library)
    assert {name: original.get(name) for name in ours} == ours


def test_the_runtime_exports_all_of_the_original():
    original = glob.glob(f"{SITE_PACKAGES}/nvidia/*/lib/libcudart.so.13")[0]
    assert set(exported(original)) == table_names(TABLES["libcudart.so.13"])


def test_the_tables_have_all_that_the_installed_pytorch_calls():
    script = SIMGPU / "libraries" / "update_tables.py"
    result = subprocess.run([sys.executable, script, SITE_PACKAGES], capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr


def test_a_table_with_an_unknown_word_is_refused(tmp_path):
    table = tmp_path / "bad.txt"
    table.write_text("@not_supported 1\n@launch_failed 2\ncublasFoo  lunch(handle 0)\n")
    generator = SIMGPU / "libraries" / "generate_stand_in.py"
    command = [sys.executable, generator, table, tmp_path / "out.cpp", tmp_path / "out.map"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr.startswith(f"{table}: cublasFoo: unknown word lunch;")
