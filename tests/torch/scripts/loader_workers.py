"""Workers of a DataLoader prepare batches on the GPU and pass them to the training process."""

import os

# Whether a worker ends before the last tensor that it sent is released is a race, and PyTorch warns of it.
os.environ["TORCH_CPP_LOG_LEVEL"] = "ERROR"

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

BATCH, FEATURES = 64, 4096


class Batches(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        return torch.full((BATCH, FEATURES), float(index)).cuda(), torch.tensor([index, 10 * index, 100]).cuda()


def main():
    loader = DataLoader(Batches(), batch_size=None, num_workers=2, multiprocessing_context="spawn")
    model = nn.Linear(FEATURES, 16).cuda()
    for data, labels in loader:
        model(data).sum().backward()
        print(data.device, labels.cpu().tolist(), data.cpu().sum().item())
        model.zero_grad()
        del data, labels
    print("allocated", torch.cuda.memory_allocated())


if __name__ == "__main__":
    main()
