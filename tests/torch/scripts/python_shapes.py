"""Allocates from every shape of Python code: what a recorder of Python stacks must get right."""

import threading

import torch
import torch.utils.checkpoint


def allocate(elements):
    return torch.empty(elements, device="cuda")


def generator(count):
    for number in range(count):
        yield allocate(1000 + number)


async def coroutine():
    return allocate(3)


def run_coroutine(started):
    try:
        started.send(None)
    except StopIteration as result:
        return result.value


class Nested:
    @staticmethod
    def comprehension():
        def inner():
            return [allocate(10) for _ in range(2)]

        return inner()


class AllocatesWhenDeleted:
    def __del__(self):
        allocate(5)


class Meta(type):
    def __call__(cls):
        allocate(2)
        return super().__call__()


class WithProperty(metaclass=Meta):
    def __init__(self):
        self.kept = allocate(2)

    @property
    def computed(self):
        return allocate(4)


class ThroughAutograd(torch.autograd.Function):
    @staticmethod
    def forward(context, values):
        return values * 1.0

    @staticmethod
    def backward(context, gradient):
        return gradient * 1.0


def short_lived_code(number):
    """Code objects that die, so that their addresses come back as others."""
    namespace = {}
    source = f"def f{number}():\n" + "\n" * number + "    return torch.empty(7, device='cuda')"
    exec(compile(source, f"<short-lived {number}>", "exec"), {"torch": torch}, namespace)
    return namespace[f"f{number}"]()


def recurse(depth):
    return allocate(11) if depth == 0 else recurse(depth - 1)


def one_round():
    kept = list(generator(3))
    del kept
    abandoned = generator(2)
    next(abandoned)
    abandoned.close()
    run_coroutine(coroutine())
    Nested.comprehension()
    doomed = AllocatesWhenDeleted()
    del doomed
    WithProperty().computed
    for number in range(40):
        short_lived_code(number % 7)
    recurse(200)
    sorted([3, 1, 2], key=lambda value: allocate(value).numel())
    list(map(lambda value: allocate(value), range(3)))
    thread = threading.Thread(target=allocate, args=(100,))
    thread.start()
    thread.join()
    weights = torch.ones(900, device="cuda", requires_grad=True)
    ThroughAutograd.apply(weights).sum().backward()
    torch.utils.checkpoint.checkpoint(lambda v: (v * 2).exp(), weights, use_reentrant=False).sum().backward()


for _ in range(3):
    one_round()
print("allocations", torch.cuda.memory_stats()["allocation.all.allocated"])
