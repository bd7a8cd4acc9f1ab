"""The models with torch.utils.checkpoint: segments of the forward pass keep only their input and are
recomputed in the backward pass."""
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint


class Segment(nn.Module):
    """Blocks one after the other; with recomputation, nothing between them is kept."""

    def __init__(self, blocks, recomputes):
        super().__init__()
        self.blocks = nn.ModuleList(blocks)
        self.recomputes = recomputes

    def run(self, *x):
        for block in self.blocks:
            x = (block(*x),)
        return x[0]

    def forward(self, *x):
        if not self.recomputes or not torch.is_grad_enabled():
            return self.run(*x)
        return checkpoint(self.run, *x, use_reentrant=False)


class Stem(nn.Module):
    """resnet18's first layers as a block."""

    def __init__(self, conv, norm):
        super().__init__()
        self.conv, self.norm = conv, norm

    def forward(self, x):
        return F.relu(self.norm(self.conv(x)))


def chain(blocks, count):
    """The blocks in a given number of segments of about equal length. As in
    torch.utils.checkpoint.checkpoint_sequential, the last segment is not recomputed, because its
    backward pass follows at once."""
    ends = [round(len(blocks) * (i + 1) / count) for i in range(count)]
    begins = [0, *ends[:-1]]
    return [Segment(blocks[begin:end], recomputes=end < len(blocks))
            for begin, end in zip(begins, ends) if end > begin]


def resnet18(model, count):
    layers = [model.layer1, model.layer2, model.layer3, model.layer4]
    blocks = [Stem(model.conv1, model.bn1)] + [block for layer in layers for block in layer]
    segments = nn.Sequential(*chain(blocks, count))
    model.logits = lambda images: model.fc(segments(images).mean((2, 3)))


def mobilenetv2(model, count):
    model.features = nn.Sequential(*chain(list(model.features), count))


def gpt(model, count):
    model.transformer["h"] = nn.ModuleList(chain(list(model.transformer["h"]), count))


def unet_ddpm(model, count):
    """The model is no chain, so its blocks are recomputed one by one, with their attention; with two
    "segments" only the blocks of the largest images are."""
    groups = [model.encoder, model.decoder] if count == 2 else [
        model.encoder, model.decoder, model.middle]
    for group in groups:
        for name, block in list(group.items()):
            if count != 2 or name == "1":
                group[name] = Segment([block], recomputes=True)


# Blocks that could be segments, and how many of them there are.
BLOCKS = {"resnet18": (resnet18, 9), "mobilenetv2": (mobilenetv2, 19), "gpt": (gpt, 6),
          "unet_ddpm": (unet_ddpm, 8)}


def choices(recipe):
    """Numbers of segments worth a measurement: each block, about the square root of them, two."""
    count = BLOCKS[recipe][1]
    if recipe == "unet_ddpm":
        return [count, 2]
    return sorted({count, round(count ** 0.5), 2}, reverse=True)


def apply(recipe, model, count):
    """Lets a model run in a number of segments; 0: without recomputation."""
    if count:
        BLOCKS[recipe][0](model, count)
