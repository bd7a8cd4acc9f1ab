import torch


def case(name, a, b):
    return dict(name=name, attrs={}, inputs=[a, b], torch=torch.atan2)


CASES = [
    case("quadrants", {"values": [1.0, 1.0, -1.0, -1.0, 2.0, -0.5]},
         {"values": [2.0, -2.0, 2.0, -2.0, -0.25, 0.5]}),
    case("origin_and_axes", {"values": [0.0, 0.0, 0.0, 1.0, -1.0]},
         {"values": [0.0, 1.0, -1.0, 0.0, 0.0]}),
    case("row", {"shape": [2, 3]}, {"shape": [3]}),
    case("column_first", {"shape": [2, 1]}, {"shape": [2, 3]}),
]
