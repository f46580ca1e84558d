"""Four threads allocate at once, each on a stream of its own."""

import threading

import torch

torch.cuda.init()
kept = {}


def work(number):
    with torch.cuda.stream(torch.cuda.Stream()):
        weights = torch.randn(256, 256, device="cuda", requires_grad=True)
        for step in range(100):
            inputs = torch.randn(1 + (37 * step + number) % 200, 256, device="cuda")
            (inputs @ weights).relu().sum().backward()
        kept[number] = weights


threads = [threading.Thread(target=work, args=(number,), name=f"worker-{number}") for number in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("threads", len(kept), "kept", sum(weights.numel() for weights in kept.values()))
