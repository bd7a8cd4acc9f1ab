import torch

CASES = [
    dict(name="points", attrs={}, inputs=[{"values": [-0.75, -0.5, -0.125, 0.0, 0.125, 0.5, 0.75, 0.9375]}],
         torch=torch.asin),
]
