"""Trains with many kinds of optimizers, each a known number of steps; every kind calls step() in a line of its own."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 16)).cuda()
other = nn.Linear(256, 256).cuda()


def backward(network=model):
    network(torch.randn(64, 256, device="cuda")).sum().backward()


class Halves(torch.optim.Optimizer):
    """An optimizer of the user's own, whose step() calls another one's."""

    def __init__(self, parameters):
        parameters = list(parameters)
        super().__init__(parameters, {})
        self.inner = torch.optim.SGD(parameters, lr=0.1)

    def step(self, closure=None):
        self.inner.step()
        self.inner.step()


def adamw_foreach():
    optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
    for _ in range(6):
        backward()
        optimizer.step()
        optimizer.zero_grad()


def adamw_fused():
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    for _ in range(5):
        backward()
        optimizer.step()
        optimizer.zero_grad()


def sgd_without_momentum():  # allocates nothing in step()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    for _ in range(7):
        backward()
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()


def steps_without_anything_between():
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    backward()
    for _ in range(8):
        optimizer.step()


def accumulated_gradients():
    optimizer = torch.optim.Adam(model.parameters(), foreach=False)
    for batch in range(12):
        backward()
        if batch % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()


def two_optimizers():
    first = torch.optim.RMSprop(model.parameters())
    second = torch.optim.Adagrad(other.parameters())
    for iteration in range(9):
        backward(other)
        second.step()
        if iteration % 3 == 0:
            backward()
            first.step()


def loss_scaling():
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scaler = torch.amp.GradScaler("cuda")
    for _ in range(4):
        optimizer.zero_grad()
        scaler.scale(model(torch.randn(64, 256, device="cuda")).sum()).backward()
        scaler.step(optimizer)
        scaler.update()


def closure():
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3)

    def loss():
        optimizer.zero_grad()
        value = model(torch.randn(64, 256, device="cuda")).square().sum()
        value.backward()
        return value

    for _ in range(2):
        optimizer.step(loss)


def nested():
    optimizer = Halves(model.parameters())
    for _ in range(10):
        backward()
        optimizer.step()


def leaking():
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    kept = []
    for _ in range(11):
        backward()
        optimizer.step()
        optimizer.zero_grad()
        kept.append(torch.empty(1 << 20, dtype=torch.uint8, device="cuda"))


KINDS = [
    *(adamw_foreach, adamw_fused, sgd_without_momentum, steps_without_anything_between, accumulated_gradients),
    *(two_optimizers, loss_scaling, closure, nested, leaking),
]
for kind in KINDS:
    for network in (model, other):
        network.zero_grad()
    kind()
    print(kind.__name__)
