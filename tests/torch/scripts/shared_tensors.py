"""Two processes pass tensors and events to each other; the receiver changes what it got."""

import torch
import torch.multiprocessing as mp

ROWS = 1024


def consume(_, inbox, outbox):
    ready, weight, row = inbox.get()
    ready.wait()
    received = (type(weight).__name__, weight.requires_grad, weight.cpu().tolist(), row.cpu().tolist())
    with torch.no_grad():
        weight[1:3].copy_(torch.tensor([40.0, 50.0]))
    own = torch.arange(6, dtype=torch.float64).cuda()
    large = torch.arange(ROWS * ROWS, dtype=torch.int32).view(ROWS, ROWS).cuda()
    changed = torch.cuda.Event(interprocess=True)
    changed.record()
    outbox.put((changed, received, own, large))
    del weight, row, ready
    torch.cuda.ipc_collect()
    assert inbox.get() == "everything was read"


def main():
    context = mp.get_context("spawn")
    inbox, outbox = context.Queue(), context.Queue()
    consumer = mp.spawn(consume, args=(inbox, outbox), nprocs=1, join=False)
    weight = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0, 4.0]).cuda())
    table = torch.arange(40, dtype=torch.int64).view(5, 8).cuda()
    ready = torch.cuda.Event(interprocess=True)
    ready.record()
    inbox.put((ready, weight, table[3]))
    changed, received, own, large = outbox.get()
    changed.synchronize()
    print("consumer received", *received)
    print("changed by the consumer", weight.detach().cpu().tolist(), weight[1].item())
    print("received", own.cpu().tolist(), own.device, large.shape, large[ROWS - 1, ROWS - 3 :].cpu().tolist())
    print("event", changed.query(), ready.query())
    del changed, received, own, large
    torch.cuda.ipc_collect()
    inbox.put("everything was read")
    consumer.join()
    print("allocated", torch.cuda.memory_allocated())


if __name__ == "__main__":
    main()
