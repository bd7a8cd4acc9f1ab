import torch

A = {"values": [[1, -6, 3], [7, 0, -2147483648]], "dtype": "i32"}
B = {"values": [3, 5, 2], "dtype": "i32"}
BYTES = {"values": [200, 3, 255], "dtype": "u8"}
OTHERS = {"values": [7, 1, 4], "dtype": "u8"}


def case(op, kind, *inputs):
    return dict(name=kind, op=op, attrs={}, inputs=list(inputs), torch=getattr(torch, op))


CASES = [case("bitwise_" + op, *rest) for op in ["and", "or", "xor", "left_shift", "right_shift"]
         for rest in [("integers", A, B), ("bytes", BYTES, OTHERS)]]
CASES += [case("bitwise_not", "integers", A), case("bitwise_not", "bytes", BYTES)]

EXAMPLES = {
    "bitwise_and": {"a": {"shape": (32,), "dtype": "i32"}, "b": {"shape": (32,), "dtype": "i32"}},
    "bitwise_or": {"a": {"shape": (32,), "dtype": "i32"}, "b": {"shape": (32,), "dtype": "i32"}},
    "bitwise_xor": {"a": {"shape": (32,), "dtype": "i32"}, "b": {"shape": (32,), "dtype": "i32"}},
    "bitwise_not": {"a": {"shape": (32,), "dtype": "i32"}},
    "bitwise_left_shift": {"a": {"shape": (32,), "dtype": "i32"}, "b": {"shape": (32,), "dtype": "i32"}},
    "bitwise_right_shift": {"a": {"shape": (32,), "dtype": "i32"}, "b": {"shape": (32,), "dtype": "i32"}},
}
