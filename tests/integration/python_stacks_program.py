"""Runs in a real interpreter (3.9 and later): in many kinds of frames, compares what stacks_probe
captures with what sys._getframe() says, frame by frame.

usage: python python_stacks_program.py LIBRARY

Prints one line, "CHECKS checks, FRAMES frames"; exits with an error at the first difference.
"""

import asyncio
import contextlib
import ctypes
import functools
import gc
import sys
import threading

# CDLL gives the GIL up around each call, PyDLL keeps it: the walk must do without it.
without_gil = ctypes.CDLL(sys.argv[1])
with_gil = ctypes.PyDLL(sys.argv[1])
for library in (without_gil, with_gil):
    library.stacks_probe_python.restype = ctypes.c_char_p
address_to_line = ctypes.pythonapi.PyCode_Addr2Line
address_to_line.argtypes = [ctypes.py_object, ctypes.c_int]

counts = {"checks": 0, "frames": 0}
one_at_a_time = threading.Lock()  # the probe's sink is shared


def line_table(code):
    return code.co_linetable if sys.version_info >= (3, 10) else code.co_lnotab


def text(hexadecimal):
    return bytes.fromhex(hexadecimal).decode("utf-8")


def as_recorded(string):
    """Lone surrogates have no UTF-8: U+FFFD stands for each. At most 65,535 bytes are kept."""
    valid = "".join("\ufffd" if 0xD800 <= ord(c) < 0xE000 else c for c in string)
    return valid.encode()[:65535].decode(errors="ignore")


def expected_frames(frame):
    frames = []
    while frame is not None:
        frames.append((frame.f_code, frame.f_lasti, frame.f_lineno))
        frame = frame.f_back
    return frames


def compare(captured, frames):
    lines = captured.decode().splitlines()
    assert len(lines) == len(frames), (lines, frames)
    for depth, (line, (code, lasti, lineno)) in enumerate(zip(lines, frames)):
        name, qualified, filename, table, first_line, instruction, minor, read_line = line.split(" ")
        qualified_name = getattr(code, "co_qualname", code.co_name)
        got = (text(name), text(qualified), text(filename), bytes.fromhex(table), int(first_line))
        want = (code.co_name, qualified_name, code.co_filename, line_table(code), code.co_firstlineno)
        want = tuple(as_recorded(item) if isinstance(item, str) else item for item in want)
        assert got == want, (depth, got, want)
        assert int(minor) == sys.version_info[1]
        assert address_to_line(code, int(instruction)) == lineno, (depth, instruction, lineno, code)
        assert int(read_line) == lineno, (depth, read_line, lineno, code)
        # The innermost frame asked for its own position some instructions later, on the same line.
        assert depth == 0 or int(instruction) == lasti, (depth, instruction, lasti, code)


def check():
    """Returns how deep the stack was."""
    for library in (with_gil, without_gil):
        with one_at_a_time:
            captured, frames = library.stacks_probe_python(), expected_frames(sys._getframe())
        compare(captured, frames)
        counts["checks"] += 1
        counts["frames"] += len(frames)
    return len(frames)


# ---- functions


def plain():
    check()


def decorated():
    @functools.wraps(plain)
    def wrapper(*arguments, **keywords):
        return check(*arguments, **keywords)

    wrapper()


def many_lines(flag=True):
    # fmt: off
    result = [
        check(),
        check() if flag
        else None,

        (lambda: check())(),
        *[check() for _ in range(2)],
    ]
    # fmt: on
    with contextlib.suppress(ValueError):
        check()
        raise ValueError
    try:
        raise KeyError("x")
    except KeyError:
        check()
    finally:
        check()
    return result


def closures():
    variable = 1

    def inner():
        def innermost():
            return variable + check()

        return innermost()

    inner()


def comprehensions():
    [check() for _ in range(2)]
    {check() for _ in range(2)}
    {i: check() for i in range(2)}
    list(check() for _ in range(2))


def callbacks_from_c():
    sorted([3, 1, 2], key=lambda value: check() and value)
    list(map(lambda value: check(), range(3)))
    functools.reduce(lambda a, b: check(), range(3))
    max([1, 2], key=lambda value: check() and value)
    callback = ctypes.CFUNCTYPE(ctypes.c_int)(check)  # through ctypes, and so without the GIL between
    callback()


# ---- generators and coroutines


def generators():
    def numbers():
        check()
        yield 1
        check()
        received = yield 2
        assert received == "sent"
        try:
            yield 3
        finally:
            check()

    def delegating():
        yield from numbers()

    for generator in (numbers(), delegating()):
        assert next(generator) == 1
        assert next(generator) == 2
        assert generator.send("sent") == 3
        generator.close()
    expression = (check() for _ in range(3))
    next(expression)
    list(expression)


def coroutines():
    class Manager:
        async def __aenter__(self):
            check()

        async def __aexit__(self, *details):
            check()

    async def ticks(count):
        for i in range(count):
            check()
            yield i
            await asyncio.sleep(0)

    async def leaf(depth):
        check()
        if depth:
            await leaf(depth - 1)
        await asyncio.sleep(0)
        check()

    async def main():
        await leaf(5)
        async with Manager():
            [value async for value in ticks(3)]
        await asyncio.gather(*(leaf(2) for _ in range(3)))

    asyncio.run(main())


# ---- classes


def classes():
    class Meta(type):
        def __new__(mcs, name, bases, namespace):
            check()
            return super().__new__(mcs, name, bases, namespace)

        def __call__(cls, *arguments):
            check()
            return super().__call__(*arguments)

        def __prepare__(name, bases):
            check()
            return {}

    class Base:
        def __init_subclass__(cls):
            check()

    class Thing(Base, metaclass=Meta):
        check()

        def __init__(self):
            check()
            self.values = [check() for _ in range(2)]

        @property
        def value(self):
            return check()

        @staticmethod
        def static():
            return check()

        @classmethod
        def of_class(cls):
            return check()

        def __getattr__(self, name):
            return check()

        def __add__(self, other):
            return check()

        def __enter__(self):
            check()

        def __exit__(self, *details):
            check()

        def __iter__(self):
            check()
            return iter([1])

        def __del__(self):
            check()

    for _ in range(20):  # often enough for the interpreter to specialise (3.11 and later)
        thing = Thing()
        thing.value, thing.static(), Thing.of_class(), thing.missing, thing + 1
        with thing:
            list(thing)
        del thing


def garbage_collected():
    class Node:
        def __del__(self):
            check()

    def make_cycle():
        node = Node()
        node.self = node

    make_cycle()
    gc.collect()


def collected_while_frames_are_made():
    """The collector runs wherever memory is taken, also while a frame is being set up."""

    class Node:
        def __del__(self):
            check()

    def cells(a, b, c):
        def inner():
            return a, b, c

        return inner

    def generator(a):
        yield lambda: a

    threshold = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(50):
            node = Node()
            node.self = node
            del node
            cells(1, 2, 3)
            next(generator(1))
    finally:
        gc.set_threshold(*threshold)
        gc.collect()


# ---- code made at run time


def run_source(source, filename, **names):
    namespace = {"check": check, **names}
    exec(compile(source, filename, "exec"), namespace)
    return namespace


def odd_names():
    for filename in ("<string>", "plain.py", "h\u00fc.py", "\u03b1\u03b2.py", "\U0001f525.py", "bad\udcff.py", "x" * 300, ""):
        run_source("check()", filename)
    run_source("def gr\u00fc\u00dfe():\n    check()\ngr\u00fc\u00dfe()", "<latin>")
    run_source("def \u0438\u043c\u044f():\n    check()\n\u0438\u043c\u044f()", "<cyrillic>")
    run_source("def \U00020bb7():\n    check()\n\U00020bb7()", "<beyond the basic plane>")
    for name in ("\U0001f680 rocket", "with space", "", "a\0b", "caf\u00e9", "n" * 70000, "\u00e9" * 40000):
        type(plain)(plain.__code__.replace(co_name=name), globals())()


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


# ---- depth and threads


def deep_recursion():
    def down(depth):
        return check() if depth == 0 else down(depth - 1)

    limit = sys.getrecursionlimit()
    assert down(limit - 150) > limit - 150
    sys.setrecursionlimit(6000)
    for depth in (1023, 1024, 2500):
        down(depth)

    def very_deep(depth):
        if depth:
            return very_deep(depth - 1)
        return with_gil.stacks_probe_python().decode().splitlines()

    lines = very_deep(5000)
    assert len(lines) == 4096 + 1 and lines[-1] == "truncated", len(lines)
    sys.setrecursionlimit(limit)


def threads():
    errors = []

    def work():
        try:
            for part in (plain, generators, classes, comprehensions, callbacks_from_c):
                part()
        except BaseException as error:
            errors.append(error)
            raise

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not errors


def busy_threads():
    """Walks without the GIL while other threads run, make and free code."""
    stop = threading.Event()

    def churn():
        i = 0
        while not stop.is_set():
            run_source(f"def g{i % 100}():\n    return [j for j in range(10)]\ng{i % 100}()", "<churn>")
            i += 1

    def probe(depth):
        if depth:
            return probe(depth - 1)
        depths = set()
        for _ in range(2000):
            depths.add(without_gil.stacks_probe_depth())
        return depths

    churners = [threading.Thread(target=churn) for _ in range(3)]
    for churner in churners:
        churner.start()
    try:
        here = len(expected_frames(sys._getframe()))
        assert probe(20) == {here + 21}
    finally:
        stop.set()
        for churner in churners:
            churner.join()


PARTS = [
    plain,
    decorated,
    many_lines,
    closures,
    comprehensions,
    callbacks_from_c,
    generators,
    coroutines,
    classes,
    garbage_collected,
    collected_while_frames_are_made,
    odd_names,
    long_functions,
    reused_addresses,
    deep_recursion,
    threads,
    busy_threads,
]

if __name__ == "__main__":
    check()
    for part in PARTS:
        before = counts["checks"]
        part()
        assert counts["checks"] > before or part is busy_threads, part
    for _ in range(3):
        plain()  # what was interned before is still right
    print(f"{counts['checks']} checks, {counts['frames']} frames")
