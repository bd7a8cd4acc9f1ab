import torch


def case(name, shape, axis):
    return dict(name=name, attrs=dict(axis=axis), inputs=[{"shape": shape, "low": -3, "high": 3}],
                torch=lambda x: torch.log_softmax(x, axis))


CASES = [case("last", [2, 5], -1), case("middle", [2, 3, 2], 1), case("first", [4, 2], 0)]
