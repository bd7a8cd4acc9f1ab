"""The recipe vae, src/recipes/vae.cpp, in PyTorch. Weights have thimble's names."""
import torch
from torch import nn
from torch.nn import functional as F

LATENT = 16


def block(conv, channels):
    return nn.ModuleDict({"conv": conv, "norm": nn.BatchNorm2d(channels)})


class Model(nn.Module):
    batch, epochs = 32, 15
    # Which axis of these arrays runs over a flattened image of (height, width, channels).
    flattened = {"mean.weight": (1, 7, 7, 8), "logvar.weight": (1, 7, 7, 8),
                 "decoder.dense.weight": (0, 7, 7, 8), "decoder.dense.bias": (0, 7, 7, 8)}

    def __init__(self):
        super().__init__()
        self.encoder = nn.ModuleDict({
            "1": block(nn.Conv2d(1, 4, 3, stride=2, padding=1, bias=False), 4),
            "2": block(nn.Conv2d(4, 8, 3, stride=2, padding=1, bias=False), 8)})
        self.mean = nn.Linear(392, LATENT)
        self.logvar = nn.Linear(392, LATENT)
        self.decoder = nn.ModuleDict({
            "dense": nn.Linear(LATENT, 392),
            "1": block(nn.ConvTranspose2d(8, 4, 4, stride=2, padding=1, bias=False), 4),
            "2": block(nn.ConvTranspose2d(4, 1, 4, stride=2, padding=1, bias=False), 1)})

    def encode(self, x):
        for part in self.encoder.values():
            x = F.relu(part["norm"](part["conv"](x)))
        x = x.flatten(1)
        return self.mean(x), self.logvar(x)

    def decode(self, z):
        """The logits of the pixels."""
        x = F.relu(self.decoder["dense"](z)).reshape(-1, 8, 7, 7)
        first, second = self.decoder["1"], self.decoder["2"]
        x = F.relu(first["norm"](first["conv"](x)))
        return second["norm"](second["conv"](x))

    def forward(self, images, digits, noise=None):
        """The loss of a batch, averaged over images; no accuracy. noise: drawn if not given."""
        mean, logvar = self.encode(images)
        z = mean
        if self.training:
            z = mean + torch.exp(logvar / 2) * (torch.randn_like(mean) if noise is None else noise)
        reconstruction = F.binary_cross_entropy_with_logits(self.decode(z), images, reduction="sum")
        divergence = -0.5 * torch.sum(1 + logvar - mean * mean - torch.exp(logvar))
        return (reconstruction + divergence) / images.shape[0], None

    def draw(self, count):
        return torch.sigmoid(self.decode(torch.randn(count, LATENT)))


def optimizer(parameters):
    return torch.optim.AdamW(parameters, lr=1e-2, weight_decay=0.01, fused=True)


def schedule(adamw, steps):
    return torch.optim.lr_scheduler.CosineAnnealingLR(adamw, T_max=steps, eta_min=1e-5)
