import torch


def case(name, shape, axis, keepdims=False):
    return dict(name=name, attrs=dict(axis=axis, keepdims=keepdims), inputs=[{"shape": shape}],
                torch=lambda x: torch.argmin(x, axis, keepdims))


CASES = [case("last", [3, 4], -1), case("middle", [2, 3, 2], 1), case("first_kept", [4, 2], 0, True)]
