#!/usr/bin/env python3
"""Writes an assembly source of stub functions, for linking a test program against.

Usage: generate_stub.py SOURCE... OUTPUT.S MAP VERSION PREFIX

Every name with PREFIX that the C++ sources mention becomes a function that returns 34
(cudaErrorStubLibrary, CUDA_ERROR_STUB_LIBRARY), and so do its later versions, as which cuda.h may
know it, and its variants for the per-thread default stream; MAP gives them the symbol version
VERSION, or none where that is `-`. At run time a simulated or real library takes the stub's place.
"""
import re
import sys

SUFFIXES = ("", "_v2", "_v3", "_v4", "_ptsz", "_ptds")


def main():
    *sources, output, version_map, version, prefix = sys.argv[1:]
    text = "".join(open(source, encoding="utf-8").read() for source in sources)
    mentioned = set(re.findall(rf"\b{prefix}[A-Z]\w*", text))
    names = sorted({name + suffix for name in mentioned for suffix in SUFFIXES})
    with open(output, "w", encoding="utf-8") as file:
        file.write('.section .note.GNU-stack, "", %progbits\n.text\n')
        for name in names:
            file.write(f".globl {name}\n.type {name}, %function\n{name}:\n  mov $34, %eax\n  ret\n")
    with open(version_map, "w", encoding="utf-8") as file:
        name = "" if version == "-" else f"{version} "
        file.write(f"{name}{{ global: {prefix}*; local: *; }};\n")


if __name__ == "__main__":
    main()
