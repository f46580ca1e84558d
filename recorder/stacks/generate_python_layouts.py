#!/usr/bin/env python3
"""Writes python_layout_table.inc: where CPython keeps what a stack walk reads, per minor version.

usage: generate_python_layouts.py INCLUDE_DIR...

INCLUDE_DIR is a CPython's .../include/python3.X of a release build with the GIL, one per minor
version. A C program compiled against each prints the offsets; nothing is typed by hand. The table
is committed, so that building vramscope needs no Python headers. What each field means stands in
python_layout.h.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

NONE = "kAbsent"

# Field of PythonLayout -> (C expression, first minor version, last minor version).
FIELDS = {
    "thread_frame": [
        ("offsetof(PyThreadState, frame)", 9, 10),
        ("offsetof(PyThreadState, cframe)", 11, 12),
        ("offsetof(PyThreadState, current_frame)", 13, 14),
    ],
    "cframe_frame": [("offsetof(_PyCFrame, current_frame)", 11, 12)],
    "frame_code": [
        ("offsetof(Frame, f_code)", 9, 12),
        ("offsetof(Frame, f_executable)", 13, 14),
    ],
    "frame_previous": [
        ("offsetof(Frame, f_back)", 9, 10),
        ("offsetof(Frame, previous)", 11, 14),
    ],
    "frame_position": [
        ("offsetof(Frame, f_lasti)", 9, 10),
        ("offsetof(Frame, prev_instr)", 11, 12),
        ("offsetof(Frame, instr_ptr)", 13, 14),
    ],
    "frame_owner": [("offsetof(Frame, owner)", 11, 14)],
    "frame_globals": [("offsetof(Frame, f_globals)", 9, 14)],
    "code_name": [("offsetof(PyCodeObject, co_name)", 9, 14)],
    "code_qualified_name": [("offsetof(PyCodeObject, co_qualname)", 11, 14)],
    "code_filename": [("offsetof(PyCodeObject, co_filename)", 9, 14)],
    "code_line_table": [
        ("offsetof(PyCodeObject, co_lnotab)", 9, 9),
        ("offsetof(PyCodeObject, co_linetable)", 10, 14),
    ],
    "code_first_line": [("offsetof(PyCodeObject, co_firstlineno)", 9, 14)],
    "code_first_traceable": [("offsetof(PyCodeObject, _co_firsttraceable)", 11, 14)],
    "code_bytecode": [("offsetof(PyCodeObject, co_code_adaptive)", 11, 14)],
    "object_type": [("offsetof(PyObject, ob_type)", 9, 14)],
    "variable_size": [("offsetof(PyVarObject, ob_size)", 9, 14)],
    "type_dealloc": [("offsetof(PyTypeObject, tp_dealloc)", 9, 14)],
    "bytes_data": [("offsetof(PyBytesObject, ob_sval)", 9, 14)],
    "string_length": [("offsetof(PyASCIIObject, length)", 9, 14)],
    "string_state": [("offsetof(PyASCIIObject, state)", 9, 14)],
    "string_kind_shift": [("shift_of_kind()", 9, 14)],
    "string_compact_bit": [("shift_of_compact()", 9, 14)],
    "string_ascii_bit": [("shift_of_ascii()", 9, 14)],
    "string_ascii_data": [("sizeof(PyASCIIObject)", 9, 14)],
    "string_compact_data": [("sizeof(PyCompactUnicodeObject)", 9, 14)],
}

PROGRAM = """
#define Py_BUILD_CORE 1
#include <Python.h>
#include <frameobject.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#if PY_VERSION_HEX < 0x030b0000
#if PY_VERSION_HEX < 0x030a0000
#include "internal/pycore_pystate.h"
#endif
typedef struct _frame Frame;
#else
#include "internal/pycore_frame.h"
#include "internal/pycore_code.h"
#if PY_VERSION_HEX >= 0x030e0000
#include "internal/pycore_interpframe_structs.h"
#endif
typedef struct _PyInterpreterFrame Frame;
#endif
#if defined(Py_DEBUG) || defined(Py_GIL_DISABLED)
#error "these are the headers of a debug or free-threaded build"
#endif
/* Bit-fields have no offsetof: set one, see which bit of the word it is. */
#define SHIFT_OF(FIELD)                                 \\
  static int shift_of_##FIELD(void) {                   \\
    PyASCIIObject s;                                    \\
    unsigned word = 0;                                  \\
    memset(&s, 0, sizeof s);                            \\
    s.state.FIELD = 1;                                  \\
    memcpy(&word, &s.state, sizeof word);               \\
    return __builtin_ctz(word);                         \\
  }
SHIFT_OF(kind)
SHIFT_OF(compact)
SHIFT_OF(ascii)
int main(void) {
  printf("version=%d\\n", PY_MINOR_VERSION);
  printf("release=%s\\n", PY_VERSION);
@PRINTS@  return 0;
}
"""


def expression(field, minor):
    for text, first, last in FIELDS[field]:
        if first <= minor <= last:
            return text
    return None


def probe(include_dir):
    """The fields' values as the headers in include_dir have them."""
    minor = int(include_dir.name.split(".")[1])
    prints = "".join(
        f'  printf("{field}=%zu\\n", (size_t)({expression(field, minor)}));\n'
        for field in FIELDS
        if expression(field, minor)
    )
    # Debian splits pyconfig.h off into a folder named after the architecture.
    arch_dirs = [include_dir.parent, *include_dir.parent.glob(f"*-linux-gnu/{include_dir.name}")]
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "probe.c")
        source.write_text(PROGRAM.replace("@PRINTS@", prints))
        program = pathlib.Path(folder, "probe")
        includes = [f"-I{path}" for path in [include_dir, include_dir / "internal", *arch_dirs]]
        subprocess.run(
            [os.environ.get("CC", "cc"), "-w", *includes, str(source), "-o", str(program)],
            check=True,
        )
        output = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    values = dict(line.split("=") for line in output.splitlines())
    assert int(values.pop("version")) == minor, include_dir
    return minor, values.pop("release"), values


def main(include_dirs):
    rows = sorted(probe(pathlib.Path(d).resolve()) for d in include_dirs)
    out = ["// Written by generate_python_layouts.py from CPython's headers; do not edit."]
    for minor, release, values in rows:
        out.append(f"// CPython {release}")
        out.append("{")
        out.append(f"    .minor = {minor},")
        out += [f"    .{field} = {values.get(field, NONE)}," for field in FIELDS]
        out.append("},")
    target = pathlib.Path(__file__).with_name("python_layout_table.inc")
    target.write_text("\n".join(out) + "\n")
    print(f"{target}: " + ", ".join(release for _, release, _ in rows))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
