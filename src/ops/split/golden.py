import torch

CASES = [
    dict(name="uneven", attrs=dict(axis=1, sizes=[1, 3]), inputs=[{"shape": [2, 4, 2]}],
         torch=lambda x: torch.split(x, [1, 3], 1)),
]
