"""The recipe gpt, src/recipes/gpt.cpp, in PyTorch: nanoGPT's model. Weights have thimble's names."""
import math

import torch
from torch import nn
from torch.nn import functional as F

CONTEXT, WIDTH, HEADS, LAYERS, BYTES = 256, 384, 6, 6, 256


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(WIDTH, 3 * WIDTH)
        self.c_proj = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        count, steps, width = x.shape
        q, k, v = (part.view(count, steps, HEADS, width // HEADS).transpose(1, 2)
                   for part in self.c_attn(x).split(width, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).reshape(count, steps, width))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attn = Attention()
        self.mlp = nn.ModuleDict({"c_fc": nn.Linear(WIDTH, 4 * WIDTH),
                                  "c_proj": nn.Linear(4 * WIDTH, WIDTH)})

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp["c_proj"](F.gelu(self.mlp["c_fc"](self.ln_2(x))))


class Model(nn.Module):
    batch, epochs = 4, 3
    flattened = {}

    def __init__(self):
        super().__init__()
        self.transformer = nn.ModuleDict({
            "wte": nn.Embedding(BYTES, WIDTH), "wpe": nn.Embedding(CONTEXT, WIDTH),
            "h": nn.ModuleList(Block() for _ in range(LAYERS)), "ln_f": nn.LayerNorm(WIDTH)})
        self.lm_head = nn.Linear(WIDTH, BYTES, bias=False)
        self.lm_head.weight = self.transformer["wte"].weight

    def logits(self, tokens):
        parts = self.transformer
        x = parts["wte"](tokens) + parts["wpe"](torch.arange(tokens.shape[1]))
        for block in parts["h"]:
            x = block(x)
        return self.lm_head(parts["ln_f"](x))

    def forward(self, tokens, following):
        """The loss of a batch, averaged over bytes; no accuracy."""
        logits = self.logits(tokens)
        return F.cross_entropy(logits.flatten(0, 1), following.flatten()), None


def optimizer(parameters):
    return torch.optim.AdamW(parameters, lr=1e-3, betas=(0.9, 0.99), weight_decay=0.1, fused=True)


def schedule(adamw, steps):
    """The rate rises during the first twentieth of the steps, then falls along a cosine to a tenth."""
    warm = max(1, steps // 20)

    def share(step):
        if step < warm:
            return (step + 1) / (warm + 1)
        return 0.55 + 0.45 * math.cos(math.pi * min(1, (step - warm) / max(1, steps - warm)))

    return torch.optim.lr_scheduler.LambdaLR(adamw, share)
