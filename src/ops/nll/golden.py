import torch

LABELS = {"values": [2, 0, 3], "dtype": "i32"}


def case(name, x, labels, weight=False, **attrs):
    def run(x, t, w=None):
        return torch.nn.functional.nll_loss(x.movedim(-1, 1), t.long(), None if w is None else w.detach(),
                                            **attrs)

    inputs = [{"shape": x, "low": -3, "high": 0}, labels]
    inputs += [{"shape": x[-1:], "low": 0.25, "high": 1}] if weight else []
    return dict(name=name, attrs=attrs, inputs=inputs, torch=run)


CASES = [
    case("mean", [3, 4], LABELS),
    case("sum", [3, 4], LABELS, reduction="sum"),
    case("weighted", [3, 4], LABELS, weight=True, ignore_index=0),
    case("none", [2, 2, 3], {"values": [[2, 0], [1, 1]], "dtype": "i32"}, weight=True, reduction="none"),
]
