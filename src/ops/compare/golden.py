import torch

A = {"values": [[1.0, 2.0, 3.0], [-1.0, 0.0, 2.0]]}
B = {"values": [1.0, 0.0, 3.0]}
INTEGERS = {"values": [1, 2, 3], "dtype": "i32"}
OTHERS = {"values": [[1], [3]], "dtype": "i32"}


def case(op, kind, a, b):
    return dict(name=kind, op=op, attrs={}, inputs=[a, b],
                torch=lambda a, b: getattr(torch, op)(a, b).to(torch.uint8))


CASES = [case(op, *rest) for op in ["eq", "ne", "lt", "le", "gt", "ge"]
         for rest in [("numbers", A, B), ("integers", INTEGERS, OTHERS)]]
