"""The recipe resnet18, src/recipes/resnet18.cpp, in PyTorch. Weights have thimble's names."""
import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, before, channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, channels, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.downsample = nn.Sequential()
        if stride != 1 or before != channels:
            self.downsample = nn.Sequential(nn.Conv2d(before, channels, 1, stride, bias=False),
                                            nn.BatchNorm2d(channels))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + self.downsample(x))


def stage(before, channels, stride):
    return nn.Sequential(Block(before, channels, stride), Block(channels, channels, 1))


class Model(nn.Module):
    batch, epochs = 32, 4
    flattened = {}

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.layer1, self.layer2 = stage(64, 64, 1), stage(64, 128, 2)
        self.layer3, self.layer4 = stage(128, 256, 2), stage(256, 512, 2)
        self.fc = nn.Linear(512, 10)

    def logits(self, images):
        x = F.relu(self.bn1(self.conv1(images)))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))

    def forward(self, images, labels):
        """The mean loss of a batch, and how many of its images are recognised."""
        logits = self.logits(images)
        return F.cross_entropy(logits, labels), (logits.argmax(1) == labels).sum()


def optimizer(parameters):
    return torch.optim.SGD(parameters, lr=0.02, momentum=0.9, nesterov=True, weight_decay=5e-4,
                           fused=True)


def schedule(sgd, steps):
    return torch.optim.lr_scheduler.OneCycleLR(sgd, max_lr=0.02, total_steps=steps,
                                               cycle_momentum=False)
