import torch

CASES = [
    dict(name="finds_one", attrs={"shape": [3, -1]}, inputs=[{"shape": [2, 6]}],
         torch=lambda x: x.reshape(3, -1)),
    dict(name="keeps_axis_0", op="flatten", attrs={}, inputs=[{"shape": [2, 3, 2]}],
         torch=lambda x: torch.flatten(x, 1)),
]

EXAMPLES = {"reshape": {"x": (392,)}}
