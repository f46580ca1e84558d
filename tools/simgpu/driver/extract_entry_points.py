#!/usr/bin/env python3
"""Writes exported_names.txt and entry_point_versions.txt from a CUDA toolkit; run by hand, once per toolkit.

Usage: extract_entry_points.py STUB_LIBCUDA CUDATYPEDEFS_H OUTPUT_FOLDER

exported_names.txt        every function that the driver library exports, one a line
entry_point_versions.txt  what cuGetProcAddress knows: base name, suffix (- for none), CUDA version that brought the
                          variant, exported symbol. The header names the versions (PFN_cuX_v11020), not the symbols:
                          variants and versions of one base name are matched from the newest backwards. Exports
                          without a typedef get version 0.
"""
import collections
import os
import re
import subprocess
import sys

SUFFIXES = ("", "_ptsz", "_ptds")


def exported_names(stub):
    lines = subprocess.run(["nm", "-D", stub], check=True, capture_output=True, text=True).stdout.splitlines()
    return sorted(line.split()[-1] for line in lines if " T " in line)


def typedef_versions(header):
    """(base name, suffix) -> set of versions"""
    versions = collections.defaultdict(set)
    with open(header, encoding="utf-8") as file:
        for match in re.finditer(r"PFN_(cu\w+?)_v(\d+)(_ptsz|_ptds)?\)", file.read()):
            versions[match[1], match[3] or ""].add(int(match[2]))
    return versions


def variants(names, base, suffix):
    """The exported variants of a base name, oldest first."""
    found = []
    for name in names:
        match = re.fullmatch(re.escape(base) + r"(?:_v(\d+))?" + suffix, name)
        if match:
            found.append((int(match[1] or 1), name))
    return [name for _, name in sorted(found)]


def entry_points(names, versions):
    entries = []
    for (base, suffix), known in sorted(versions.items()):
        pairs = zip(reversed(variants(names, base, suffix)), sorted(known, reverse=True))
        entries += [(base, suffix, version, name) for name, version in pairs]
    done = {entry[3] for entry in entries}
    variant = re.compile(r"_(v\d+|ptsz|ptds)$")
    entries += [(name, "", 0, name) for name in names if name not in done and not variant.search(name)]
    return sorted(entries)


def main():
    stub, header, folder = sys.argv[1:4]
    names = exported_names(stub)
    with open(os.path.join(folder, "exported_names.txt"), "w", encoding="utf-8") as file:
        file.writelines(name + "\n" for name in names)
    with open(os.path.join(folder, "entry_point_versions.txt"), "w", encoding="utf-8") as file:
        for base, suffix, version, name in entry_points(names, typedef_versions(header)):
            file.write(f"{base} {suffix or '-'} {version} {name}\n")


if __name__ == "__main__":
    main()
