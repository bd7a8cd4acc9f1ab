import torch


def case(name, shapes, low=-1, high=1, **attrs):
    options = {k: "batchmean" if v == "batch_mean" else v for k, v in attrs.items()}
    inputs = [s if isinstance(s, dict) else {"shape": s, "low": low, "high": high} for s in shapes]
    return dict(name=name, attrs=attrs, inputs=inputs, torch=lambda *x: loss(*x, **options))


def loss(x, t, **options):
    return torch.nn.functional.multilabel_margin_loss(x, t.long(), **options)


T = {"values": [[2, 0, -1, 1], [3, -1, 0, 1], [-1, 0, 1, 2]], "dtype": "i32"}
CASES = [case("mean", [[3, 4], T]), case("sum", [[3, 4], T], reduction="sum"), case("none", [[3, 4], T], reduction="none")]

EXAMPLES = {"multilabel_margin": {"labels": {"shape": (32,), "dtype": "i32"}}}
