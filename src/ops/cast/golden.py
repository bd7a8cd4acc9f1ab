import torch

NUMBERS = {"values": [-2.75, -1.0, -0.5, 0.0, 0.5, 1.75, 100.25]}
CASES = [
    dict(name="to_i32", attrs=dict(dtype="i32"), inputs=[NUMBERS],
         torch=lambda x: x.to(torch.int32)),
    dict(name="to_i8", attrs=dict(dtype="i8"), inputs=[NUMBERS], torch=lambda x: x.to(torch.int8)),
    dict(name="from_i32", attrs=dict(dtype="f32"),
         inputs=[{"values": [-3, 0, 70000], "dtype": "i32"}],
         torch=lambda x: x.to(torch.float64)),
    dict(name="from_u8", attrs=dict(dtype="f32"),
         inputs=[{"values": [0, 127, 255], "dtype": "u8"}], torch=lambda x: x.to(torch.float64)),
    dict(name="nothing_to_do", attrs=dict(dtype="f32"), inputs=[NUMBERS], torch=lambda x: x * 1),
]
