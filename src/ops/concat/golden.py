import torch

CASES = [
    dict(name="channels", attrs=dict(axis=-1), inputs=[{"shape": [2, 2, 1]}, {"shape": [2, 2, 2]}],
         torch=lambda a, b: torch.cat([a, b], -1)),
    dict(name="rows", attrs=dict(axis=0),
         inputs=[{"shape": [1, 3]}, {"shape": [2, 3]}, {"shape": [1, 3]}],
         torch=lambda a, b, c: torch.cat([a, b, c], 0)),
]
