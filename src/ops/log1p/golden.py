import torch

CASES = [
    dict(name="points", attrs={}, inputs=[{"values": [-0.75, -0.5, -0.125, 0.0, 0.125, 0.5, 0.75, 0.9375, 4.0, 100.0]}],
         torch=torch.log1p),
]
