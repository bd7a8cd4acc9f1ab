import torch


def case(name, condition, a, b):
    return dict(name=name, attrs={}, torch=lambda c, a, b: torch.where(c != 0, a, b),
                inputs=[{"shape": condition, "low": 0, "high": 1, "dtype": "u8"}, {"shape": a},
                        {"shape": b}])


CASES = [
    case("one_shape", [3, 4], [3, 4], [3, 4]),
    case("broadcast", [3, 1], [2, 1, 4], [4]),
    case("scalars", [5], [], []),
]

EXAMPLES = {"where": {"zero": {"shape": (), "batch": False}}}
