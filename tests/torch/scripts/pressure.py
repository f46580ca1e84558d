"""Three streams on a full GPU: the allocator retries, frees cached segments, fails and goes on."""

import random

import torch

MIB = 1 << 20
SIZES = [100, 3000, 700_000, 3 * MIB, 11 * MIB, 23 * MIB + 5, 45 * MIB, 130 * MIB]

choose = random.Random(5)
streams = [torch.cuda.Stream() for _ in range(3)]
live = []
failures = 0
for step in range(600):
    with torch.cuda.stream(streams[step % 3]):
        try:
            live.append(torch.empty(choose.choice(SIZES), dtype=torch.uint8, device="cuda"))
        except torch.cuda.OutOfMemoryError:
            failures += 1
            del live[::2]
            if failures % 3 == 0:
                torch.cuda.empty_cache()
    if step % 5 == 0 and live:
        live.pop(choose.randrange(len(live))).record_stream(streams[(step + 1) % 3])
    if step % 97 == 0:
        torch.cuda.synchronize()
print("failures", failures, "allocated", torch.cuda.memory_allocated(), "peak", torch.cuda.max_memory_allocated())
