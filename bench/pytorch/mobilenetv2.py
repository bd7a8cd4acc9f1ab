"""The recipe mobilenetv2, src/recipes/mobilenetv2.cpp, in PyTorch. Weights have thimble's names,
which are torchvision's."""
import torch
from torch import nn
from torch.nn import functional as F

WIDTH = 0.35
STAGES = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
          (6, 320, 1, 1)]  # expansion, channels, blocks, stride of the first


def scaled(channels):
    rounded = max(8, int(channels * WIDTH + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * channels * WIDTH else rounded


def conv(before, channels, kernel=1, stride=1, groups=1):
    return [nn.Conv2d(before, channels, kernel, stride, kernel // 2, groups=groups, bias=False),
            nn.BatchNorm2d(channels)]


def conv_relu6(*sizes, **settings):
    return nn.Sequential(*conv(*sizes, **settings), nn.ReLU6())


class InvertedResidual(nn.Module):
    def __init__(self, before, channels, expansion, stride):
        super().__init__()
        hidden = before * expansion
        widen = [conv_relu6(before, hidden)] if expansion != 1 else []
        self.conv = nn.Sequential(*widen,
                                  conv_relu6(hidden, hidden, kernel=3, stride=stride, groups=hidden),
                                  *conv(hidden, channels))
        self.adds = stride == 1 and before == channels

    def forward(self, x):
        return x + self.conv(x) if self.adds else self.conv(x)


class Model(nn.Module):
    batch, epochs = 8, 12
    flattened = {}

    def __init__(self):
        super().__init__()
        channels = scaled(32)
        layers = [conv_relu6(3, channels, kernel=3, stride=2)]
        for expansion, wide, blocks, stride in STAGES:
            for i in range(blocks):
                layers.append(InvertedResidual(channels, scaled(wide), expansion,
                                               stride if i == 0 else 1))
                channels = scaled(wide)
        layers.append(conv_relu6(channels, 1280))
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(1280, 10))

    def logits(self, images, dropped=None):
        """dropped: the factors of dropout; drawn if not given."""
        x = self.features(images).mean((2, 3))
        x = self.classifier[0](x) if dropped is None else x * dropped
        return self.classifier[1](x)

    def forward(self, images, labels, dropped=None):
        """The mean loss of a batch, and how many of its images are recognised."""
        logits = self.logits(images, dropped)
        return F.cross_entropy(logits, labels), (logits.argmax(1) == labels).sum()


def optimizer(parameters):
    return torch.optim.AdamW(parameters, lr=5e-3, weight_decay=0.01, fused=True)


def schedule(adamw, steps):
    return torch.optim.lr_scheduler.OneCycleLR(adamw, max_lr=5e-3, total_steps=steps,
                                               cycle_momentum=False)
