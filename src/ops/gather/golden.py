import torch


def case(name, x, index, axis):
    return dict(name=name, attrs=dict(axis=axis), inputs=[x, {"values": index, "dtype": "i32"}],
                torch=lambda x, i: torch.gather(x, axis, i.long()))


CASES = [
    case("last", {"shape": [2, 4]}, [[3, 0, 3], [1, 1, 2]], -1),
    case("first", {"shape": [3, 2]}, [[0, 2], [2, 2], [1, 0], [0, 0]], 0),
    case("a_part", {"shape": [3, 3, 4]}, [[[0, 2]], [[1, 1]]], 1),
    case("integers", {"values": [5, 6, 7], "dtype": "i32"}, [2, 0], 0),
]
