"""A small ResNet block and a GRU with dropout, whose cuDNN state is freed only when the process ends."""

import torch
from torch import nn

image_model = nn.Sequential(
    nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()
).cuda()
recurrent = nn.GRU(16, 32, num_layers=2, dropout=0.1).cuda()
optimizer = torch.optim.SGD([*image_model.parameters(), *recurrent.parameters()], lr=0.1, momentum=0.9)

for step in range(3):
    images = torch.randn(8, 3, 32, 32, device="cuda")
    features = image_model(images)
    output, _ = recurrent(features.view(2, 4, 16))
    output.sum().backward()
    optimizer.step()
    optimizer.zero_grad()

print("allocated", torch.cuda.memory_allocated())
