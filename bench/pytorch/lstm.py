"""The recipe lstm, src/recipes/lstm.cpp, in PyTorch. Weights have thimble's names."""
import math

import torch
from torch import nn
from torch.nn import functional as F

UNITS, LAYERS, BYTES = 256, 2, 256


class Model(nn.Module):
    batch, epochs = 32, 4
    flattened = {}

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(BYTES, UNITS)
        self.lstm = nn.LSTM(UNITS, UNITS, LAYERS, batch_first=True)
        self.head = nn.Linear(UNITS, BYTES)

    def forward(self, tokens, following):
        """The loss of a batch, averaged over bytes; no accuracy."""
        logits = self.head(self.lstm(self.embedding(tokens))[0])
        return F.cross_entropy(logits.flatten(0, 1), following.flatten()), None


def optimizer(parameters):
    return torch.optim.Adam(parameters, lr=2e-3, fused=True)


def schedule(adam, steps):
    """The rate rises during the first twentieth of the steps, then falls along a cosine to a tenth."""
    warm = max(1, steps // 20)

    def share(step):
        if step < warm:
            return (step + 1) / (warm + 1)
        return 0.55 + 0.45 * math.cos(math.pi * min(1, (step - warm) / max(1, steps - warm)))

    return torch.optim.lr_scheduler.LambdaLR(adam, share)
