#!/usr/bin/env python3
"""Writes what the list of the runtime's exported names determines.

Usage: generate_exports.py exports.txt VERSION fallbacks.c exports.map

fallbacks.c defines every name weakly, as a function that answers "not supported"; where the sources
define a name too, the linker takes theirs. exports.map gives the names the version of the original.
"""
import sys


def main():
    names_file, version, fallbacks_file, map_file = sys.argv[1:]
    with open(names_file) as file:
        names = file.read().split()

    with open(fallbacks_file, "w") as file:
        file.write("int simgpu_unsupported_runtime_call(const char* function);\n")
        for name in names:
            file.write(
                f"\n__attribute__((weak, visibility(\"default\"))) int {name}(void) {{\n"
                f'  return simgpu_unsupported_runtime_call("{name}");\n'
                "}\n"
            )

    with open(map_file, "w") as file:
        file.write(f"{version} {{\n  global:\n")
        file.writelines(f"    {name};\n" for name in names)
        file.write("  local: *;\n};\n")


if __name__ == "__main__":
    main()
