import torch


def case(name, x, axis):
    return dict(name=name, attrs=dict(axis=axis), inputs=[x], torch=lambda x: torch.cumprod(x, axis))


CASES = [case("last", {"shape": [2, 4], "low": -2, "high": 2}, -1),
         case("first", {"shape": [3, 2], "low": -2, "high": 2}, 0),
         case("zeros", {"values": [[1.0, 0.0, 2.0, 3.0], [0.0, 2.0, 0.0, 1.0]]}, 1)]
