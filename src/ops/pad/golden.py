import torch

CASES = [
    dict(name="images", attrs=dict(before=[0, 1, 0, 0], after=[0, 0, 2, 0], value=0.5),
         inputs=[{"shape": [2, 2, 2, 2]}],
         torch=lambda x: torch.nn.functional.pad(x, (0, 0, 0, 2, 1, 0), value=0.5)),
]
