import torch

CASES = [
    dict(name="points", attrs={}, inputs=[{"values": [0.01, 0.25, 1.0, 2.5, 30.0]}], torch=lambda x: torch.pow(x, 2.0)),
    dict(name="attributes_1", attrs={"exponent": 0.5}, inputs=[{"values": [0.01, 0.25, 1.0, 2.5, 30.0]}], torch=lambda x: torch.pow(x, 0.5)),
    dict(name="cube_of_both_signs", attrs={"exponent": 3.0}, inputs=[{"values": [-2.5, -1.0, 0.0, 0.5, 3.0]}],
         torch=lambda x: torch.pow(x, 3.0)),
    dict(name="to_the_zeroth", attrs={"exponent": 0.0}, inputs=[{"values": [-2.5, 0.0, 3.0]}],
         torch=lambda x: torch.pow(x, 0.0)),
    dict(name="tensor", op="pow_tensor", attrs={},
         inputs=[{"shape": [3, 4], "low": 0.1, "high": 3}, {"shape": [3, 4], "low": -3, "high": 3}],
         torch=torch.pow),
    dict(name="tensor_broadcast", op="pow_tensor", attrs={},
         inputs=[{"shape": [3, 1], "low": 0.1, "high": 3}, {"shape": [4], "low": -3, "high": 3}],
         torch=torch.pow),
    dict(name="tensor_at_zero", op="pow_tensor", attrs={},
         inputs=[{"values": [0.0, 0.0, 0.0, 0.0, 2.0, -2.0]}, {"values": [0.0, 1.0, 2.0, 0.5, 0.0, 0.0]}],
         torch=torch.pow),
    dict(name="tensor_of_negative_bases", op="pow_tensor", attrs={},
         inputs=[{"values": [-2.0, -2.0, -0.5, -2.0, -1.0]}, {"values": [2.0, 3.0, -1.0, 0.5, 0.0]}],
         torch=torch.pow),
    dict(name="tensor_pole", op="pow_tensor", attrs={},
         inputs=[{"values": [0.0, 0.0, 1.0]}, {"values": [-1.0, -0.5, -1.0]}], torch=torch.pow),
]
