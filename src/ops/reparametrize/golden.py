import torch

CASES = [
    dict(name="draw", attrs={}, inputs=[{"shape": [2, 5], "low": -2, "high": 2}] * 3,
         torch=lambda mean, logvar, noise: mean + torch.exp(0.5 * logvar) * noise.detach()),
]
