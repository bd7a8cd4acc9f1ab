import torch

CASES = [
    dict(name="points", attrs={}, inputs=[{"values": [0.0625, 0.5, 1.0, 1.5, 2.0, 10.0, 100.0]}],
         torch=torch.log10),
]
