#!/usr/bin/env python3
"""Writes a library's functions and its version script from its table.

Usage: generate_stand_in.py TABLE.txt functions.cpp exports.map

README.md lists the words of the tables. Arguments are counted as the calling convention counts them:
floating-point values, which travel in registers of their own, are left out.
"""
import re
import sys

WORD = re.compile(r"(\w+)(?:\(([^)]*)\))?")


class Function:
    """The body of one stand-in, and which arguments it reads."""

    def __init__(self):
        self.used = set()
        self.lines = []

    def argument(self, index):
        self.used.add(int(index))
        return f"a{int(index)}"

    def add(self, line):
        self.lines.append("  " + line)


def zero(size_bytes):
    return lambda f, n: f.add(f"write_zeros({f.argument(n)}, {size_bytes});")


def zero8_array(f, n, count):
    f.add(f"write_zeros({f.argument(n)}, 8 * static_cast<int>({f.argument(count)}));")


def launch(f, where):
    kind, index = where.split()
    f.add(f"if (!launch_on_{kind}({f.argument(index)})) return kLaunchFailed;")


WORDS = {
    "ok": lambda f: None,
    "create": lambda f, n: f.add(f"create_object({f.argument(n)});"),
    "destroy": lambda f, n: f.add(f"destroy_object({f.argument(n)});"),
    "set_stream": lambda f, n, m: f.add(f"set_stream({f.argument(n)}, {f.argument(m)});"),
    "get_stream": lambda f, n, m: f.add(f"get_stream({f.argument(n)}, {f.argument(m)});"),
    "zero4": zero(4),
    "zero8": zero(8),
    "zero8_array": zero8_array,
    "host_result": lambda f, n, size: f.add(f"write_host_result({f.argument(0)}, {f.argument(n)}, {size});"),
    "typed_host_result": lambda f, n, m: f.add(
        f"write_typed_host_result({f.argument(0)}, {f.argument(n)}, {f.argument(m)});"
    ),
    "launch": launch,
}


def read_table(path):
    """Settings and (name, behaviour) pairs; stops with the line that is wrong."""
    settings, functions = {"version": ""}, []
    with open(path) as file:
        for number, line in enumerate(file, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            first, _, rest = line.partition(" ")
            if not rest.strip():
                sys.exit(f"{path}:{number}: {first} has no behaviour")
            if first.startswith("@"):
                settings[first[1:]] = rest.strip()
            else:
                functions.append((first, rest.strip()))
    return settings, functions


def write_function(path, name, behaviour, unsupported_name):
    """The C++ text of one function; empty for one that is written by hand."""
    if behaviour == "by_hand":
        return ""
    if behaviour == "text":
        return f'const char* {name}() {{ return "simulated {name}"; }}\n'
    function = Function()
    returned = "0"
    for word, arguments in WORD.findall(behaviour):
        arguments = [argument.strip() for argument in arguments.split(",")] if arguments else []
        if word == "unsupported":
            returned = f'unsupported("{unsupported_name}", {arguments[0] if arguments else "kNotSupported"})'
        elif word in WORDS:
            WORDS[word](function, *arguments)
        else:
            sys.exit(f"{path}: {name}: unknown word {word}; generate_stand_in.py lists the known ones")
    count = max(function.used, default=-1) + 1
    parameters = ", ".join(f"long a{i}" if i in function.used else "long" for i in range(count))
    body = "\n".join(function.lines + [f"  return {returned};"])
    return f"long {name}({parameters}) {{\n{body}\n}}\n"


def main():
    table, source_file, map_file = sys.argv[1:]
    settings, functions = read_table(table)
    with open(source_file, "w") as file:
        file.write('#include "tools/simgpu/libraries/common/stand_in.h"\n\n')
        file.write("using namespace simgpu::libraries;\n\n")
        file.write(f"[[maybe_unused]] constexpr long kNotSupported = {settings['not_supported']};\n")
        file.write(f"[[maybe_unused]] constexpr long kLaunchFailed = {settings['launch_failed']};\n\n")
        file.write('#pragma GCC visibility push(default)\nextern "C" {\n')
        for name, behaviour in functions:
            unsupported_name = settings.get("unsupported_name", name)
            file.write("\n" + write_function(table, name, behaviour, unsupported_name))
        file.write("\n}\n")
    with open(map_file, "w") as file:
        file.write(f"{settings['version']} {{\n  global:\n")
        file.writelines(f"    {name};\n" for name, _ in functions)
        file.write("  local: *;\n};\n")


if __name__ == "__main__":
    main()
