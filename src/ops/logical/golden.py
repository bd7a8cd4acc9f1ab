import torch

A = {"values": [[1, 0, 3], [0, 0, 2]], "dtype": "u8"}
B = {"values": [0, 1, 2], "dtype": "i32"}
X = {"values": [[0.0], [0.5]]}


def case(op, kind, *inputs):
    return dict(name=kind, op=op, attrs={}, inputs=list(inputs),
                torch=lambda *given: getattr(torch, op)(*given).to(torch.uint8))


CASES = [case(op, *rest) for op in ["logical_and", "logical_or", "logical_xor"]
         for rest in [("two_types", A, B), ("numbers", X, B)]]
CASES += [case("logical_not", "mask", A), case("logical_not", "numbers", X)]
