import torch

CASES = [
    dict(name="points", attrs={}, inputs=[{"values": [0.01, 0.25, 1.0, 2.5, 30.0]}], torch=lambda x: torch.sqrt(x)),
]
