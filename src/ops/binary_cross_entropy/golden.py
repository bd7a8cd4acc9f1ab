import torch


def case(name, shape, weight=None, **attrs):
    def run(x, t, w=None):
        return torch.nn.functional.binary_cross_entropy(x, t, None if w is None else w.detach(),
                                                        **attrs)

    inputs = [{"shape": shape, "low": 0.125, "high": 0.875}, {"shape": shape, "low": 0, "high": 1}]
    return dict(name=name, attrs=attrs, inputs=inputs, torch=run)


CASES = [
    case("mean", [2, 3]),
    case("sum", [2, 3], reduction="sum"),
    case("none", [2, 3], reduction="none"),
    dict(name="limits", attrs={"reduction": "none"},
         inputs=[{"values": [0.0, 1.0, 0.0, 1.0]}, {"values": [0.0, 1.0, 0.25, 0.75]}],
         torch=lambda x, t: torch.nn.functional.binary_cross_entropy(x, t, reduction="none")),
]
