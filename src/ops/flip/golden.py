import torch


def case(name, x, axes):
    return dict(name=name, attrs=dict(axes=axes), inputs=[x], torch=lambda x: torch.flip(x, axes))


CASES = [
    case("last", {"shape": [2, 3]}, [-1]),
    case("first_and_last", {"shape": [2, 2, 3]}, [0, 2]),
    case("integers", {"values": [1, 2, 3], "dtype": "i32"}, [0]),
    case("nothing", {"shape": [2, 2]}, []),
]
