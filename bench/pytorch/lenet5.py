"""The recipe lenet5, src/recipes/lenet5.cpp, in PyTorch. Weights have thimble's names."""
import torch
from torch import nn
from torch.nn import functional as F


class Model(nn.Module):
    batch, epochs = 64, 10
    # Which axis of this array runs over a flattened image of (height, width, channels).
    flattened = {"dense1.weight": (1, 5, 5, 16)}

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.dense1 = nn.Linear(400, 120)
        self.dense2 = nn.Linear(120, 84)
        self.dense3 = nn.Linear(84, 10)

    def forward(self, images, digits):
        """The mean loss of a batch, and how many of its images are recognised."""
        x = F.max_pool2d(F.relu(self.conv1(images)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2).flatten(1)
        logits = self.dense3(F.relu(self.dense2(F.relu(self.dense1(x)))))
        return F.cross_entropy(logits, digits), (logits.argmax(1) == digits).sum()


def optimizer(parameters):
    return torch.optim.Adam(parameters, lr=1e-3, fused=True)


def schedule(adam, steps):
    return None
