"""Frames of code that is made at run time."""

from checking import check


def run_source(source, filename, **names):
    namespace = {"check": check, **names}
    exec(compile(source, filename, "exec"), namespace)
    return namespace


def small():
    check()


def odd_names():
    for filename in ("<string>", "plain.py", "h\u00fc.py", "\u03b1\u03b2.py", "\U0001f525.py", "bad\udcff.py", "x" * 300, ""):
        run_source("check()", filename)
    run_source("def gr\u00fc\u00dfe():\n    check()\ngr\u00fc\u00dfe()", "<latin>")
    run_source("def \u0438\u043c\u044f():\n    check()\n\u0438\u043c\u044f()", "<cyrillic>")
    run_source("def \U00020bb7():\n    check()\n\U00020bb7()", "<beyond the basic plane>")
    for name in ("\U0001f680 rocket", "with space", "", "a\0b", "caf\u00e9", "n" * 70000, "\u00e9" * 40000):
        type(small)(small.__code__.replace(co_name=name), globals())()


def long_functions():
    """Line tables with large steps in lines and in bytecode, backwards too."""
    run_source("\n" * 40000 + "check()", "<far down>")
    run_source("def f(x):\n" + "    x = x + 1\n" * 3000 + "    check()\n    return x\nf(1)", "<long>")
    run_source("x = (\n" + "1 +\n" * 500 + "check())\n", "<expression>")
    run_source("for i in range(3):\n    check(\n    )\n" + "\n" * 300 + "    check()", "<loop>")


def reused_addresses(count=5000):
    """Code objects that die and whose addresses come back, each with another name and line."""
    seen = set()
    for i in range(count):
        namespace = {"check": check}
        exec(compile("\n" * (i % 50) + f"def f{i}():\n" + "\n" * (i % 7) + "    return check()", f"<{i}>", "exec"), namespace)
        function = namespace[f"f{i}"]
        seen.add(id(function.__code__))
        function()
    assert len(seen) < count, "no address was used twice: this checked nothing"


PARTS = [odd_names, long_functions, reused_addresses]
