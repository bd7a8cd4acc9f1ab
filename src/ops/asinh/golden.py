import torch

CASES = [
    dict(name="points", attrs={}, inputs=[{"values": [-30.0, -5.5, -3.0, -1.0, -0.25, 0.0, 0.25, 1.0, 2.5, 3.0, 6.0, 7.0, 30.0]}],
         torch=torch.asinh),
]
