"""Deep stacks, and stacks of many threads."""

import contextlib
import sys
import threading

import functions
from checking import check


@contextlib.contextmanager
def with_recursion_limit(limit):
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(limit)
    yield
    sys.setrecursionlimit(before)


def deep_recursion():
    def down(depth):
        return check() if depth == 0 else down(depth - 1)

    limit = sys.getrecursionlimit()
    assert down(limit - 150) > limit - 150
    with with_recursion_limit(6000):
        for depth in (1023, 1024, 2500):
            down(depth)


def run_in_threads(targets):
    """An error in any of them is raised here."""
    errors = []

    def run(target):
        try:
            target()
        except BaseException as error:
            errors.append(error)
            raise

    workers = [threading.Thread(target=run, args=(target,)) for target in targets]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not errors


def threads():
    parts = ["plain", "generators", "classes", "comprehensions", "callbacks_from_c"]
    run_in_threads([lambda: [getattr(functions, part)() for part in parts]] * 8)


PARTS = [deep_recursion, threads]
