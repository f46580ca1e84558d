#!/usr/bin/env python3
"""Writes what turns the implementations into a library that exports all of the driver's names.

Usage: generate_exports.py names-header EXPORTED_NAMES OUTPUT
       generate_exports.py exports EXPORTED_NAMES ENTRY_POINT_VERSIONS NM IMPLEMENTATIONS THUNKS_S TABLE_CPP MAP

names-header  a header to include before cuda.h: it renames the symbol behind every driver function, so that the
              implementation of cuX can be written under its own name, checked by the compiler against cuda.h, while
              the exported symbol cuX is the thunk.
exports       the thunks (one line for each exported name, macros in thunk.h), the tables of entry_points.h and the
              linker's version script. IMPLEMENTATIONS is the static library: what it defines has behaviour.
"""
import re
import subprocess
import sys

PREFIX = "simgpu_"
# Real drivers answer these before cuInit too.
BEFORE_INIT = {"cuInit", "cuDriverGetVersion", "cuGetErrorString", "cuGetErrorName", "cuGetProcAddress",
               "cuGetProcAddress_v2", "cuGetExportTable"}
# Change nothing of the GPU's, so that time stands still: a profiler asks them for the device of an allocation, and a
# job's timing must be the same with and without one.
TIMELESS = {"cuCtxGetDevice", "cuStreamGetDevice"}
SUFFIXES = {"-": 0, "_ptsz": 1, "_ptds": 2}


def read_rows(path):
    with open(path, encoding="utf-8") as file:
        return [line.split() for line in file if line.strip()]


def write(path, lines):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)


def names_header(names):
    return ["#pragma once"] + [f"#pragma redefine_extname {name} {PREFIX}{name}" for name in names]


def implemented_names(nm, library):
    lines = subprocess.run([nm, library], check=True, capture_output=True, text=True).stdout.splitlines()
    symbols = {line.split()[-1] for line in lines if " T " in line}
    return {symbol.removeprefix(PREFIX) for symbol in symbols if symbol.startswith(PREFIX + "cu")}


def thunk(index, name, implemented):
    """_ptsz and _ptds variants run the same code; the thunk notes what stream 0 means."""
    plain = re.sub(r"_pt[sd][zs]$", "", name)
    if plain not in implemented:
        return f"THUNK_UNSUPPORTED {name} {index}"
    if name in BEFORE_INIT:
        return f"THUNK_ALWAYS {name} {PREFIX}{plain}"
    return f"THUNK {name} {index} {PREFIX}{plain} {int(plain != name)} {int(name not in TIMELESS)}"


def table(names, rows):
    lines = ['#include "tools/simgpu/driver/entry_points.h"', "", 'extern "C" {']
    lines += [f'void exported_{name}() __asm__("{name}");' for name in names]
    lines += ["}", "", "namespace simgpu {", "", "const char* const kExportedNames[] = {"]
    lines += [f'    "{name}",' for name in names]
    lines += ["};", "const size_t kExportedNameCount = std::size(kExportedNames);", "",
              "const EntryPoint kEntryPoints[] = {"]
    lines += [f'    {{"{base}", {"true" if SUFFIXES[suffix] else "false"}, {version}, &exported_{name}}},'
              for base, suffix, version, name in rows]
    lines += ["};", "const size_t kEntryPointCount = std::size(kEntryPoints);", "", "}  // namespace simgpu"]
    return lines


def main():
    names = [row[0] for row in read_rows(sys.argv[2])]
    if sys.argv[1] == "names-header":
        write(sys.argv[3], names_header(names))
        return
    rows = read_rows(sys.argv[3])
    nm, library, thunks_path, table_path, map_path = sys.argv[4:9]
    implemented = implemented_names(nm, library)
    unknown = implemented - set(names)
    if unknown:
        sys.exit(f"generate_exports.py: implemented, but not exported by the real driver: {sorted(unknown)}")
    thunks = [thunk(index, name, implemented) for index, name in enumerate(names)]
    write(thunks_path, ['#include "tools/simgpu/driver/thunk.h"'] + thunks)
    write(table_path, table(names, rows))
    write(map_path, ["{", "  global:"] + [f"    {name};" for name in names] + ["  local: *;", "};"])


if __name__ == "__main__":
    main()
