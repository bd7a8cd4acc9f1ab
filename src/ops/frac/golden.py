import torch

CASES = [
    dict(name="points", attrs={}, inputs=[{"values": [-2.5, -1.5, -1.0, -0.75, -0.5, 0.0, 0.25, 0.5, 1.5, 2.5, 7.0]}],
         torch=torch.frac),
]
