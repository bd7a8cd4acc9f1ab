"""The recipe unet_ddpm, src/recipes/unet_ddpm.cpp, in PyTorch. Weights have thimble's names."""
import torch
from torch import nn
from torch.nn import functional as F

TIMES, FREQUENCIES, TIME_FEATURES, GROUPS, HEADS, DIGITS = 1000, 32, 128, 8, 4, 10
NOT_TOLD = 0.1  # share of the images that come without their digit


class Norm(nn.GroupNorm):
    def __init__(self, channels):
        super().__init__(GROUPS, channels)

    def forward(self, x):
        return F.silu(super().forward(x))


class Block(nn.Module):
    def __init__(self, before, after):
        super().__init__()
        self.norm1, self.norm2 = Norm(before), Norm(after)
        self.conv1 = nn.Conv2d(before, after, 3, padding=1)
        self.conv2 = nn.Conv2d(after, after, 3, padding=1)
        self.time = nn.Linear(TIME_FEATURES, after)
        if before != after:
            self.skip = nn.Conv2d(before, after, 1)

    def forward(self, x, features):
        h = self.conv1(self.norm1(x)) + self.time(features)[:, :, None, None]
        h = self.conv2(self.norm2(h))
        return h + (self.skip(x) if hasattr(self, "skip") else x)


class Attention(nn.MultiheadAttention):
    def __init__(self, channels):
        super().__init__(channels, HEADS, bias=False, batch_first=True)
        self.norm = nn.GroupNorm(GROUPS, channels)

    def forward(self, x):
        places = self.norm(x).flatten(2).transpose(1, 2)
        y, _ = super().forward(places, places, places, need_weights=False)
        return x + y.transpose(1, 2).reshape(x.shape)


def down(before, after):
    return nn.Conv2d(before, after, 3, stride=2, padding=1)


def up(before, after):
    return nn.ConvTranspose2d(before, after, 4, stride=2, padding=1)


class Model(nn.Module):
    batch, epochs = 16, 12
    flattened = {}

    def __init__(self):
        super().__init__()
        self.time = nn.ModuleDict({"1": nn.Linear(2 * FREQUENCIES, TIME_FEATURES),
                                   "2": nn.Linear(TIME_FEATURES, TIME_FEATURES)})
        self.digit = nn.Embedding(DIGITS, TIME_FEATURES)
        self.add_module("in", nn.Conv2d(1, 32, 3, padding=1))
        self.encoder = nn.ModuleDict({"1": Block(32, 32), "2": Block(64, 64),
                                      "3": Block(128, 128)})
        self.down = nn.ModuleDict({"1": down(32, 64), "2": down(64, 128)})
        self.middle = nn.ModuleDict({"1": Block(128, 128), "attention": Attention(128),
                                     "2": Block(128, 128)})
        self.up = nn.ModuleDict({"1": up(64, 32), "2": up(128, 64)})
        self.decoder = nn.ModuleDict({"1": Block(64, 32), "2": Block(128, 64)})
        self.out = nn.ModuleDict({"norm": Norm(32), "conv": nn.Conv2d(32, 1, 3, padding=1)})
        self.alpha_bars = torch.cumprod(
            1 - torch.linspace(1e-4, 0.02, TIMES, dtype=torch.float64), 0)

    def guess(self, x, time, digits, told):
        """v of x [N, 1, 32, 32], a mixture of noise and image, at time [N]. The digit [N] is used
        where told [N] is 1."""
        rates = 10000.0 ** -(torch.arange(FREQUENCIES, dtype=torch.float64) / (FREQUENCIES - 1))
        angles = time[:, None] * rates
        waves = torch.cat([angles.sin(), angles.cos()], 1).to(x.dtype)
        digit = self.digit(digits) * told[:, None]
        features = F.silu(self.time["2"](F.silu(self.time["1"](waves))) + digit)
        first = self.encoder["1"](getattr(self, "in")(x), features)
        second = self.encoder["2"](self.down["1"](first), features)
        h = self.encoder["3"](self.down["2"](second), features)
        h = self.middle["attention"](self.middle["1"](h, features))
        h = self.middle["2"](h, features)
        h = self.decoder["2"](torch.cat([self.up["2"](h), second], 1), features)
        h = self.decoder["1"](torch.cat([self.up["1"](h), first], 1), features)
        return self.out["conv"](self.out["norm"](h))

    def forward(self, images, digits, time=None, noise=None, draw=None):
        """The loss of a batch, averaged over pixels; no accuracy. time [N], in 0..1000,
        noise [N, 1, 32, 32] and draw [N], below 1 where the digit is left out, are drawn if they are
        not given."""
        x = 2 * F.pad(images, (2, 2, 2, 2)) - 1
        if time is None:
            time, noise = TIMES * torch.rand(len(x)), torch.randn_like(x)
            draw = torch.rand(len(x)) / NOT_TOLD
        time = time.long()
        share = self.alpha_bars[time][:, None, None, None]
        signal, disturbance = share.sqrt().to(x.dtype), (1 - share).sqrt().to(x.dtype)
        told = draw.floor().clamp(0, 1).to(x.dtype)
        v = self.guess(signal * x + disturbance * noise, time, digits, told)
        return F.mse_loss(v, signal * noise - disturbance * x), None


def optimizer(parameters):
    return torch.optim.AdamW(parameters, lr=2e-3, weight_decay=0.0, fused=True)


def schedule(adamw, steps):
    rise = min(200, steps // 10)

    def factor(step):
        if step < rise:
            return (step + 1) / (rise + 1)
        return max(0.0, 1 - (step - rise) / (steps - rise))
    return torch.optim.lr_scheduler.LambdaLR(adamw, factor)
