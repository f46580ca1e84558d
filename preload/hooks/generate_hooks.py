#!/usr/bin/env python3
"""Writes everything that derives from hook_table.txt.

Usage: generate_hooks.py hook_table.txt OUTPUT...

The name of an output says what it is: hook_rows.h and hook_rows.c (rows for the shim), hook_rows.inc
(one `hook` line a row for the trampolines), hook_exports.map (version script of the shim), api.h (api
indexes, names, families and signatures for the core), api_lookups.h (what cuGetProcAddress must be asked for to find
each row; for tests).
"""
import os
import re
import sys
import zlib
from typing import NamedTuple

ALWAYS_EXPORTED = ["dlclose", "dlopen", "dlsym"]

# Families whose functions are not the driver's, and the library that defines those.
PYTORCH_LIBRARIES = {"pytorch": "libc10.so", "pytorch_scopes": "libtorch_cpu.so"}
DRIVER_LIBRARY = "libcuda.so.1"


class Row(NamedTuple):
    symbol: str
    since: str
    family: str

    @property
    def base(self):
        """The name that cuGetProcAddress knows: without version and per-thread-stream suffixes."""
        return re.sub(r"(_v\d+)?(_ptsz)?$", "", self.symbol) if self.is_driver else self.symbol

    @property
    def declaration(self):
        """The name under which cuda.h declares the signature."""
        return self.symbol.removesuffix("_ptsz")

    @property
    def is_driver(self):
        return self.family not in PYTORCH_LIBRARIES

    @property
    def kind(self):
        if self.family == "resolver":
            return "HOOK_RESOLVER"
        return "HOOK_DRIVER" if self.is_driver else "HOOK_PYTORCH"


def fail(path, line, what):
    sys.exit(f"generate_hooks.py: {path}: {what} (line {line}); expected: SYMBOL SINCE FAMILY")


def read_table(path):
    rows = {}
    with open(path, encoding="utf-8") as table:
        for number, line in enumerate(table, 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            if len(words) != 3:
                fail(path, number, f"{len(words)} columns")
            row = Row(*words)
            if row.symbol in rows:
                fail(path, number, f"{row.symbol} stands twice")
            if not re.fullmatch(r"-|\d+\.\d", row.since):
                fail(path, number, f"{row.since} is no CUDA version")
            rows[row.symbol] = row
    return list(rows.values())


def families(rows):
    return list(dict.fromkeys(row.family for row in rows))


def table_id(rows):
    """Tells whether shim and core were made from one table."""
    return zlib.crc32("\n".join(f"{row.symbol} {row.family}" for row in rows).encode())


def camel(name):
    return "".join(word.capitalize() for word in name.split("_"))


def hook_rows_h(rows):
    """Rows for the shim, in C."""
    yield "#pragma once"
    yield f"#define HOOK_ROW_COUNT {len(rows)}"
    yield f"#define HOOK_TABLE_ID {table_id(rows):#x}u"
    yield "#ifndef __ASSEMBLER__"
    yield "enum HookRowKind { HOOK_RESOLVER, HOOK_DRIVER, HOOK_PYTORCH };"
    yield "struct HookRow {"
    yield "  const char* symbol;"
    yield "  const char* base;  // without version suffixes, as cuGetProcAddress knows it"
    yield "  enum HookRowKind kind;"
    yield "  const char* library;  // that defines it"
    yield "};"
    yield "enum HookRowIndex {"
    yield from (f"  HOOK_{row.symbol} = {index}," for index, row in enumerate(rows))
    yield "};"
    yield "#endif"


def hook_rows_c(rows):
    yield '#include "hook_rows.h"'
    yield '#include "preload/shim/shim.h"'
    yield "const struct HookRow hook_rows[HOOK_ROW_COUNT] = {"
    for row in rows:
        library = PYTORCH_LIBRARIES.get(row.family, DRIVER_LIBRARY)
        yield f'  {{"{row.symbol}", "{row.base}", {row.kind}, "{library}"}},'
    yield "};"


def hook_rows_inc(rows):
    for index, row in enumerate(rows):
        yield f"hook {row.symbol}, {index}"


def hook_exports_map(rows):
    # Anonymous: with a named version node, references that carry a version would not bind to us.
    yield "{"
    yield "  global:"
    yield from (f"    {symbol};" for symbol in ALWAYS_EXPORTED + [row.symbol for row in rows])
    yield "  local: *;"
    yield "};"


def api_h(rows):
    """Api indexes, names, families and signatures for the core, in C++."""
    yield "#pragma once"
    yield "#include <cstdint>"
    yield '#include "preload/hooks/cuda_api.h"'
    yield "namespace vramscope {"
    yield "enum class Api : uint16_t {"
    yield from (f"  {row.symbol} = {index}," for index, row in enumerate(rows))
    yield "};"
    yield f"constexpr uint16_t kApiCount = {len(rows)};"
    yield f"constexpr uint32_t kHookTableId = {table_id(rows):#x};"
    yield "inline constexpr const char* kApiNames[kApiCount] = {"
    yield from (f'  "{row.symbol}",' for row in rows)
    yield "};"
    yield "enum class Family : uint8_t {"
    yield from (f"  k{camel(family)}," for family in families(rows))
    yield "};"
    yield "inline constexpr Family kApiFamilies[kApiCount] = {"
    yield from (f"  Family::k{camel(row.family)}," for row in rows)
    yield "};"
    yield "template <Api kApi> struct Signature;"
    for row in rows:
        if row.is_driver:
            yield f"template <> struct Signature<Api::{row.symbol}> {{ using type = decltype(::{row.declaration}); }};"
    yield "}  // namespace vramscope"


def api_lookups_h(rows):
    yield "#pragma once"
    yield "namespace vramscope {"
    yield "struct ApiLookup {"
    yield "  const char* base;"
    yield "  int version;"
    yield "  bool per_thread_stream;"
    yield "};"
    yield "inline constexpr ApiLookup kApiLookups[] = {"
    for row in rows:
        major, _, minor = row.since.partition(".")
        version = int(major) * 1000 + int(minor) * 10 if row.is_driver else 0
        yield f'  {{"{row.base}", {version}, {str(row.symbol.endswith("_ptsz")).lower()}}},'
    yield "};"
    yield "}  // namespace vramscope"


WRITERS = {
    "hook_rows.h": hook_rows_h,
    "hook_rows.c": hook_rows_c,
    "hook_rows.inc": hook_rows_inc,
    "hook_exports.map": hook_exports_map,
    "api.h": api_h,
    "api_lookups.h": api_lookups_h,
}


def main():
    table, *outputs = sys.argv[1:]
    rows = read_table(table)
    for output in outputs:
        lines = WRITERS[os.path.basename(output)](rows)
        with open(output, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
