import torch

CASES = [
    dict(name="points", attrs={}, inputs=[{"values": [-30.0, -1.0, -0.25, 0.0, 0.25, 2.5, 30.0]}],
         torch=torch.nn.functional.softsign),
]
