"""Frames of functions, comprehensions, generators, coroutines and classes."""

import asyncio
import contextlib
import ctypes
import functools
import gc

from checking import check


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
]
