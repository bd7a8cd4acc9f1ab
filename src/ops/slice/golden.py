import torch

CASES = [
    dict(name="steps", attrs=dict(axes=[0, 1], starts=[1, 0], stops=[4, 5], steps=[2, 3]),
         inputs=[{"shape": [4, 5]}], torch=lambda x: x[1:4:2, 0:5:3]),
    dict(name="backwards", attrs=dict(axes=[0, 1], starts=[3, -2], stops=[0, -5], steps=[-1, -2]),
         inputs=[{"shape": [4, 5]}], torch=lambda x: x[1:4].flip(0)[:, 1:4:2].flip(1)),
    dict(name="all_backwards", attrs=dict(axes=[1], starts=[99], stops=[-99], steps=[-2]),
         inputs=[{"shape": [2, 5]}], torch=lambda x: x.flip(1)[:, ::2]),
    dict(name="from_the_end", attrs=dict(axes=[1], starts=[-3], stops=[-1]),
         inputs=[{"shape": [2, 5, 2]}], torch=lambda x: x[:, -3:-1]),
]
