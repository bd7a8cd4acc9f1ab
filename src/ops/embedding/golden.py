import torch
from torch.nn import functional


def case(name, indices, weight, padding_idx=-1, **settings):
    padding = None if padding_idx < 0 else padding_idx
    # A copy: PyTorch shortens rows in place.
    return dict(name=name, attrs=dict(padding_idx=padding_idx, **settings),
                inputs=[{"values": indices, "dtype": "i32"}, {"shape": weight}],
                torch=lambda i, w: functional.embedding(i.long(), w.clone(), padding_idx=padding,
                                                        **{"max_norm": None, **settings}))


CASES = [
    case("vector", [3, 0, 3, 1], [4, 3]),
    case("sentences", [[0, 2, 2], [1, 0, 4]], [5, 2]),
    case("padding", [[0, 2, 2], [1, 0, 0]], [3, 2], 0),
    case("max_norm", [3, 0, 3, 1], [4, 3], max_norm=0.9),
    case("max_norm_of_type_1", [3, 0, 3, 1], [4, 3], max_norm=0.9, norm_type=1.0),
    case("scale_grad_by_freq", [[0, 2, 2], [1, 0, 0]], [3, 2], scale_grad_by_freq=True),
    case("scale_grad_by_freq_with_padding", [[0, 2, 2], [1, 0, 0]], [3, 2], 0,
         scale_grad_by_freq=True),
]
