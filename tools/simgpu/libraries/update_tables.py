#!/usr/bin/env python3
"""The call inventory: compares the tables with what an installed PyTorch calls, and extends them.

Usage: update_tables.py SITE_PACKAGES [--write] [--public]

Prints every function of NVIDIA's libraries that PyTorch in SITE_PACKAGES links against and that no
table has, with the behaviour that table_rules.py proposes. --write adds those lines to the tables:
read them before you commit, above all the ones that became "unsupported". --public also takes in
whatever the public headers declare, so that other programs load too. Exit status 1 if something was
missing. Needs `nm` and `g++` (for its preprocessor).
"""
import argparse
import glob
import os
import re
import subprocess
import sys
from dataclasses import dataclass

from table_rules import LIBRARIES

TABLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tables")


SIZE_OUTPUT = re.compile(
    r"(?i)^p?(lwork|buffer_?size\w*|pBufferSize\w*|workspace(InBytes|size)\w*|work_?size\w*|workArea|sizeInBytes\w*|"
    r"reserveSpaceSize\w*)$"
)
# What x86-64 passes in other than general registers: it does not count as an argument here.
FLOATING_POINT = {"float", "double", "cuComplex", "cuDoubleComplex", "cufftReal", "cufftComplex"}
SCALAR_BYTES = {"int": 4, "float": 4, "double": 8, "int64_t": 8, "cuComplex": 8, "cuDoubleComplex": 16}


@dataclass
class Parameter:
    type: str  # without the asterisk of a pointer
    name: str
    pointer: bool
    writable: bool


def symbols(path, which):
    output = subprocess.run(["nm", "-D", which, path], capture_output=True, text=True, check=True).stdout
    return {re.split("@", line.split()[-1])[0] for line in output.splitlines()}


def linked_by_pytorch(site_packages):
    linked = set()
    for path in glob.glob(f"{site_packages}/torch/lib/*.so") + glob.glob(f"{site_packages}/torch/*.so"):
        linked |= symbols(path, "--undefined-only")
    return linked


def parse_parameters(text):
    parameters = []
    for declaration in text.split(","):
        match = re.fullmatch(r"\s*(.*?)([\s*]+)(?:const\s+|__restrict__\s+)?(\w+)\s*((?:\[\w*\])*)\s*", declaration, re.S)
        if not match or declaration.strip() == "void":
            continue
        type_text, stars, name, brackets = match.groups()
        pointer = "*" in stars or bool(brackets)
        bare = re.sub(r"\b(const|struct|enum)\b", "", type_text).strip()
        if not pointer and bare in FLOATING_POINT:
            continue
        parameters.append(Parameter(bare, name, pointer, pointer and not re.search(r"\bconst\b", type_text)))
    return parameters


def prototypes(library, site_packages):
    """Name -> parameters, of what the library's public headers declare."""
    if not library.headers:
        return {}
    folders = glob.glob(f"{site_packages}/nvidia/*/include") + ["/usr/local/cuda/include"]
    source = "".join(f"#include <{header}>\n" for header in library.headers)
    command = ["g++", "-E", "-P", "-x", "c++", "-"] + [f"-I{folder}" for folder in folders]
    text = subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", "", text)
    found = {}
    for name, parameters in re.findall(rf"\b({library.prefix}\w+)\s*\(([^(){{}};]*)\)\s*;", text):
        found.setdefault(name, parse_parameters(parameters))
    return found


def indexes(parameters, wanted):
    return [(index, p) for index, p in enumerate(parameters) if p.writable and wanted(p)]


def sizes(parameters):
    found = indexes(parameters, lambda p: SIZE_OUTPUT.match(p.name) and p.type in ("int", "size_t", "int64_t"))
    return [f"zero{4 if p.type == 'int' else 8}({index})" for index, p in found] or ["unsupported"]


def new_object(parameters):
    found = indexes(parameters, lambda p: re.search(r"(_t|Info_t|Descr_t|\*)$", p.type) and p.type != "size_t")
    return [f"create({found[0][0]})"] if found else ["unsupported"]


def host_results(parameters):
    type_index = next((i for i, p in enumerate(parameters) if p.name in ("resultType", "csType")), None)
    words = []
    for index, parameter in indexes(parameters, lambda p: p.name in ("result", "c", "s", "param")):
        if parameter.type == "void":
            words.append(f"typed_host_result({index}, {type_index})")
        else:
            values = 5 if parameter.name == "param" else 1  # rotmg's describes the rotation
            words.append(f"host_result({index}, {values * SCALAR_BYTES[parameter.type]})")
    return words


def host_info(parameters):
    return [f"zero4({index})" for index, _ in indexes(parameters, lambda p: p.name == "info")]


PLACEHOLDERS = {"SIZES": sizes, "NEW": new_object, "RESULT": host_results, "INFO": host_info}


def propose(library, name, parameters):
    behaviour = next((b for pattern, b in library.rules if re.search(pattern, name)), "unsupported")
    words = []
    for word in re.findall(r"\w+\([^)]*\)|\w+", behaviour):
        words += PLACEHOLDERS[word](parameters) if word in PLACEHOLDERS else [word]
    return " ".join(words) or "ok"


def read_table(path):
    """The lines that are not functions, and name -> behaviour."""
    head, table = [], {}
    with open(path) as file:
        for line in file:
            if not line.strip() or line[0] in "#@":
                head.append(line)
            else:
                name, behaviour = line.split(None, 1)
                table[name] = behaviour.strip()
    return head, table


def write_table(path, head, table):
    width = max(len(name) for name in table)
    with open(path, "w") as file:
        file.writelines(head)
        for name in sorted(table):
            file.write(f"{name:{width}}  {table[name]}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site_packages")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--public", action="store_true")
    arguments = parser.parse_args()

    linked = linked_by_pytorch(arguments.site_packages)
    missing = 0
    for library in LIBRARIES:
        paths = glob.glob(f"{arguments.site_packages}/nvidia/*/lib/{library.file}")
        if not paths:
            sys.exit(f"update_tables.py: no {library.file} in {arguments.site_packages}: install torch there with pip")
        exported = {name for name in symbols(paths[0], "--defined-only") if name.startswith(library.prefix)}
        declared = prototypes(library, arguments.site_packages)
        wanted = exported & linked
        if arguments.public:
            wanted |= exported & set(declared)
            wanted |= {name for name in exported if library.public_names and re.search(library.public_names, name)}

        path = os.path.join(TABLES, library.table + ".txt")
        head, table = read_table(path)
        new = {name: propose(library, name, declared.get(name, [])) for name in sorted(wanted - set(table))}
        missing += len(new)
        for name, behaviour in new.items():
            print(f"{library.table}: {name}  {behaviour}")
        if arguments.write and new:
            write_table(path, head, table | new)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
