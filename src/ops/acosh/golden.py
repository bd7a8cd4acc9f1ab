import torch

CASES = [
    dict(name="points", attrs={}, inputs=[{"values": [1.125, 1.5, 2.0, 4.0, 100.0]}],
         torch=torch.acosh),
]
