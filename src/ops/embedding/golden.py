import torch
from torch.nn import functional


def case(name, indices, weight, padding_idx=-1):
    padding = None if padding_idx < 0 else padding_idx
    return dict(name=name, attrs=dict(padding_idx=padding_idx),
                inputs=[{"values": indices, "dtype": "i32"}, {"shape": weight}],
                torch=lambda i, w: functional.embedding(i.long(), w, padding_idx=padding))


CASES = [
    case("vector", [3, 0, 3, 1], [4, 3]),
    case("sentences", [[0, 2, 2], [1, 0, 4]], [5, 2]),
    case("padding", [[0, 2, 2], [1, 0, 0]], [3, 2], 0),
]
