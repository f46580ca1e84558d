"""Frames that are interrupted, by signals or by other stacks."""

import asyncio
import signal

try:
    import greenlet
except ImportError:
    greenlet = None

from checking import check, check_in_c_handler
from depths_and_threads import run_in_threads


class Handler:
    """A signal's handler in Python, for the duration of a with statement."""

    def __init__(self, number, action):
        self.number, self.action = number, action
        self.calls = 0

    def __call__(self, number, frame):
        self.action()
        self.calls += 1

    def __enter__(self):
        self.before = signal.signal(self.number, self)
        return self

    def __exit__(self, *details):
        signal.signal(self.number, self.before)


def handlers_in_python():
    def raise_in(generator):
        for _ in generator:
            signal.raise_signal(signal.SIGUSR1)

    def nested():
        depths.append(len(depths))
        if len(depths) < 3:
            signal.raise_signal(signal.SIGUSR2)
        check()

    depths = []
    with Handler(signal.SIGUSR1, check) as usr1, Handler(signal.SIGUSR2, nested) as usr2:
        signal.raise_signal(signal.SIGUSR1)
        raise_in(range(3))
        raise_in(signal.raise_signal(signal.SIGUSR1) for _ in range(3))
        list(map(signal.raise_signal, [signal.SIGUSR1] * 3))
        signal.raise_signal(signal.SIGUSR2)
        while usr2.calls < 3:  # the interpreter calls them when it sees fit
            pass
        assert usr1.calls > 3


def handlers_that_interrupt_python(times=100):
    """Wherever the interpreter looks for signals, that is anywhere."""

    def busy(depth, handler):
        if depth:
            return busy(depth - 1, handler)
        for call in range(times):
            signal.setitimer(signal.ITIMER_REAL, 1e-6)  # once: the next one waits for the end of this handler
            while handler.calls == call:
                sum(i * i for i in range(10))
                [j for j in range(5)]
        return None

    with Handler(signal.SIGALRM, check) as handler:
        busy(10, handler)


def handlers_in_c():
    def everywhere():
        check_in_c_handler(on_other_stack=False)
        check_in_c_handler(on_other_stack=True)
        yield
        [check_in_c_handler(on_other_stack) for on_other_stack in (False, True)]

    for _ in range(3):
        list(everywhere())
    list(map(check_in_c_handler, [True, False]))
    run_in_threads([lambda: list(everywhere())])
    with Handler(signal.SIGUSR1, lambda: check_in_c_handler(on_other_stack=False)) as handler:
        signal.raise_signal(signal.SIGUSR1)
        assert handler.calls == 1


def executors():
    """Coroutines that wait for functions in other threads."""

    async def work(number):
        check()
        await asyncio.to_thread(check)
        await asyncio.get_running_loop().run_in_executor(None, check)
        check()
        return number

    async def main():
        tasks = [asyncio.create_task(work(number)) for number in range(4)]
        assert await asyncio.gather(*tasks) == [0, 1, 2, 3]

    asyncio.run(main())


# ---- greenlets


def greenlets():
    """Two that call one another, each from another depth of Python and of C."""

    def down(depth, function):
        if depth:
            return list(map(lambda _: down(depth - 1, function), [0]))  # through C each time
        return function()

    def play(depth, rounds):
        def turn():
            for _ in range(rounds):
                check()
                others.append(others.pop(0))
                others[0].switch()
                check()

        down(depth, turn)
        check()

    for depths in ((1, 9), (9, 1), (5, 5)):
        others = [greenlet.greenlet(lambda depth=depth: play(depth, 6)) for depth in depths]
        for starting_depth in (0, 20):
            down(starting_depth, others[0].switch)
            check()


def greenlets_from_other_depths():
    """Begun deep in the stack, continued from where that part of it has long been used otherwise."""

    def work():
        while True:
            check()
            greenlet.getcurrent().parent.switch()

    def down(depth, function):
        return sorted([0], key=lambda _: down(depth - 1, function) or 0) if depth else function() and None

    many = [greenlet.greenlet(work) for _ in range(10)]
    for number, one in enumerate(many):
        down(2 * number, one.switch)
    for _ in range(5):
        for number, one in enumerate(many):
            down(20 - 2 * number, one.switch)
            check()


def greenlets_that_end():
    """By a value, by an exception, by being forgotten."""

    def generator():
        yield check()
        greenlet.getcurrent().parent.switch("waits")
        yield check()

    def raising():
        list(generator())
        raise KeyError

    def forgotten():
        try:
            list(generator())
        finally:
            check()

    one = greenlet.greenlet(lambda: list(generator()))
    assert one.switch() == "waits" and len(one.switch()) == 2
    one = greenlet.greenlet(raising)
    assert one.switch() == "waits"
    try:
        one.switch()
        raise AssertionError("not raised")
    except KeyError:
        check()
    one = greenlet.greenlet(forgotten)
    assert one.switch() == "waits"
    del one
    check()


def greenlets_in_threads():
    run_in_threads([greenlets, greenlets_from_other_depths, greenlets_that_end] * 2)


GREENLETS = [greenlets, greenlets_from_other_depths, greenlets_that_end, greenlets_in_threads]
PARTS = [handlers_in_python, handlers_that_interrupt_python, handlers_in_c, executors]
