import torch

CASES = [
    dict(name="points", attrs={}, inputs=[{"values": [-3.0, -1.5, -0.75, -0.25, 0.0, 0.25, 0.75, 1.5, 3.0]}],
         torch=torch.erf),
]
