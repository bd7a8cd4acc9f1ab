import torch

NAN = float("nan")


def case(name, x, low, high):
    return dict(name=name, attrs={}, inputs=[x, low, high], torch=torch.clamp)


CASES = [
    case("both", {"shape": [3, 4], "low": -2, "high": 2}, {"shape": [4], "low": -1, "high": 0},
         {"shape": [3, 1], "low": 0, "high": 1}),
    case("low_alone", {"shape": [5]}, {"shape": [5]}, None),
    case("high_alone", {"shape": [5]}, None, {"shape": []}),
    case("at_the_bounds", {"values": [1.0, 2.0, 3.0]}, {"values": [1.0, 1.0, 1.0]},
         {"values": [3.0, 3.0, 3.0]}),
    case("crossed_bounds", {"values": [0.0, 1.5, 3.0]}, {"values": [2.0, 2.0, 2.0]},
         {"values": [1.0, 1.0, 1.0]}),
    case("equal_bounds", {"values": [0.0, 2.0, 3.0]}, {"values": [2.0, 2.0, 2.0]},
         {"values": [2.0, 2.0, 2.0]}),
    case("no_number", {"values": [0.0, 1.5, NAN, 0.5, NAN]}, {"values": [NAN, 1.0, 1.0, NAN, 1.0]},
         {"values": [1.0, NAN, 2.0, NAN, 2.0]}),
    case("no_number_below", {"values": [0.0, NAN, 3.0]}, {"values": [NAN, 1.0, 1.0]}, None),
    case("no_number_above", {"values": [0.0, NAN, 3.0]}, None, {"values": [NAN, 1.0, 1.0]}),
]
