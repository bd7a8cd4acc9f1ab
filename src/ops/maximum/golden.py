import torch


def case(name, a, b):
    return dict(name=name, attrs={}, inputs=[a, b], torch=torch.maximum)


CASES = [
    case("one_shape", {"shape": [2, 3]}, {"shape": [2, 3]}),
    case("broadcast", {"shape": [2, 1, 3]}, {"shape": [4, 1]}),
    case("scalar", {"shape": [2, 3]}, {"shape": []}),
    case("ties_share", {"values": [1.0, 2.0, 3.0]}, {"values": [1.0, 3.0, 3.0]}),
]
