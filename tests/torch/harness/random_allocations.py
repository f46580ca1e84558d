"""Random work for PyTorch's allocator: every kind of request, in an order that a seed decides.

Usage: random_allocations.py FOLDER FIRST_SEED COUNT [everything]

For each seed FOLDER/SEED.pickle is PyTorch's own history of that work, from an empty allocator on, in
which empty_cache() is told by its stack. The seed also decides the allocator's settings. Private pools with
expandable segments are tried with `everything` alone: PyTorch 2.15 sometimes corrupts its heap with them.
"""

import gc
import pathlib
import random
import sys

import torch

MIB = 1 << 20
OPERATIONS = 700

# Options that PyTorch does not set back by itself stand in each.
PLAIN = "expandable_segments:False,large_segment_size_mb:20,max_non_split_rounding_mb:20"
EXPANDABLE = "expandable_segments:True,large_segment_size_mb:20,max_non_split_rounding_mb:20"
SETTINGS = [
    PLAIN,
    EXPANDABLE,
    f"{PLAIN},max_split_size_mb:32",
    f"{PLAIN},max_split_size_mb:64",
    "expandable_segments:False,large_segment_size_mb:20,max_split_size_mb:32,max_non_split_rounding_mb:40",
    f"{PLAIN},roundup_power2_divisions:4",
    f"{PLAIN},roundup_power2_divisions:[1:2,4:8,16:0,32:4,>:2]",
    f"{EXPANDABLE},roundup_power2_divisions:8",
    f"{EXPANDABLE},max_split_size_mb:48",
    f"{PLAIN},garbage_collection_threshold:0.5,per_process_memory_fraction:0.9",
    f"{PLAIN},garbage_collection_threshold:0.3,per_process_memory_fraction:0.8,max_split_size_mb:40",
    f"{EXPANDABLE},garbage_collection_threshold:0.4,per_process_memory_fraction:0.7",
    "expandable_segments:False,large_segment_size_mb:32,max_non_split_rounding_mb:32",
    "expandable_segments:True,large_segment_size_mb:32,max_non_split_rounding_mb:32",
    f"{PLAIN},per_process_memory_fraction:0.6",
]


class Work:
    def __init__(self, seed, private_pools):
        self.random = random.Random(seed)
        self.streams = [torch.cuda.default_stream(), *(torch.cuda.Stream() for _ in range(self.random.choice([0, 1, 3])))]
        self.tensors, self.pools, self.graphs = [], [], []
        self.regime = self.random.choice(["mixed", "small", "large", "mixed"])
        # How often each is done: no two seeds are alike.
        self.weights = {
            self.allocate: 50,
            self.free: self.random.choice([35, 45, 50]),
            self.free_many: self.random.choice([0, 1, 2]),
            self.use_on_another_stream: self.random.choice([0, 5, 15]),
            self.keep_a_stream_busy: self.random.choice([0, 3]),
            self.empty_cache: self.random.choice([0, 1, 3]),
            self.allocate_in_pool: self.random.choice([0, 0, 3, 8]),
            self.drop_pool: self.random.choice([0, 1]),
            self.capture: self.random.choice([0, 0, 1]),
            self.drop_graph: 1,
        }
        if not private_pools:
            self.weights[self.allocate_in_pool] = self.weights[self.capture] = 0

    def run(self):
        steps, weights = list(self.weights), list(self.weights.values())
        for _ in range(OPERATIONS):
            self.random.choices(steps, weights)[0]()

    def size(self):
        pick = self.random.random()
        if self.regime == "small" or (self.regime == "mixed" and pick < 0.4):
            return self.random.choice([1, 511, 512, 513, 1000, self.random.randrange(1, MIB), MIB, MIB - 1])
        if pick < 0.7:
            return self.random.choice([MIB + 1, 10 * MIB, 10 * MIB - 1, self.random.randrange(MIB, 20 * MIB)])
        if pick < 0.98:
            return self.random.randrange(10 * MIB, 90 * MIB)
        return self.random.randrange(90 * MIB, 400 * MIB)

    def tensor(self):
        try:
            return torch.empty(self.size(), dtype=torch.uint8, device="cuda")
        except torch.OutOfMemoryError:
            return None

    def allocate(self):
        with torch.cuda.stream(self.random.choice(self.streams)):
            tensor = self.tensor()
        if tensor is None:
            self.free_many()
        else:
            self.tensors.append(tensor)

    def free(self):
        if self.tensors:
            self.tensors.pop(self.random.randrange(len(self.tensors)))

    def free_many(self):
        for _ in range(len(self.tensors) // 2):
            self.free()

    def use_on_another_stream(self):
        if self.tensors:
            tensor = self.random.choice(self.tensors)
            stream = self.random.choice(self.streams)
            tensor.record_stream(stream)
            with torch.cuda.stream(stream):
                tensor[:1].zero_()

    def keep_a_stream_busy(self):
        with torch.cuda.stream(self.random.choice(self.streams)):
            torch.cuda._sleep(10_000_000)

    def empty_cache(self):
        torch.cuda.empty_cache()

    def allocate_in_pool(self):
        if not self.pools or self.random.random() < 0.3:
            self.pools.append(torch.cuda.MemPool())
        with torch.cuda.use_mem_pool(self.random.choice(self.pools)):
            for _ in range(self.random.randrange(1, 4)):
                self.allocate()

    def drop_pool(self):
        if self.pools:
            self.pools.pop(self.random.randrange(len(self.pools)))

    def capture(self):
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        kept = []
        try:
            with torch.cuda.graph(graph):
                for _ in range(self.random.randrange(1, 6)):
                    tensor = torch.empty(self.size() % (30 * MIB) + 1, dtype=torch.uint8, device="cuda")
                    tensor[:1].zero_()
                    if self.random.random() < 0.5:
                        kept.append(tensor)
        except torch.OutOfMemoryError:
            return
        self.graphs.append(graph)
        self.tensors += kept

    def drop_graph(self):
        if self.graphs:
            self.graphs.pop(self.random.randrange(len(self.graphs)))


def run(seed, file, everything):
    settings = SETTINGS[seed % len(SETTINGS)]
    torch.cuda.memory._set_allocator_settings(settings)
    fraction = 1.0
    if "per_process_memory_fraction" in settings:
        fraction = float(settings.split("per_process_memory_fraction:")[1].split(",")[0])
    torch.cuda.set_per_process_memory_fraction(fraction)
    torch.cuda.memory._record_memory_history(context="all", stacks="python", max_entries=1_000_000)
    work = Work(seed, everything or "expandable_segments:False" in settings)
    work.run()
    torch.cuda.memory._dump_snapshot(str(file))
    torch.cuda.memory._record_memory_history(enabled=None)
    del work
    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() == 0, torch.cuda.memory_reserved()


def main():
    folder, first, count = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    torch.cuda.init()
    for seed in range(first, first + count):
        run(seed, folder / f"{seed}.pickle", "everything" in sys.argv[4:])


main()
