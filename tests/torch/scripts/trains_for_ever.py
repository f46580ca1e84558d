"""Three threads train until the process is killed. Prints a line when all of them have begun."""

import threading

import torch

torch.cuda.init()
begun = threading.Barrier(4)


def work(number):
    with torch.cuda.stream(torch.cuda.Stream()):
        weights = torch.randn(64, 64, device="cuda", requires_grad=True)
        step = 0
        while True:
            inputs = torch.randn(1 + (37 * step + number) % 3000, 64, device="cuda")
            (inputs @ weights).relu().sum().backward()
            if step == 3:
                begun.wait()
            if step % 200 == 199:
                torch.cuda.empty_cache()
            step += 1


threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(3)]
for thread in threads:
    thread.start()
begun.wait()
print("ready", flush=True)
for thread in threads:
    thread.join()
