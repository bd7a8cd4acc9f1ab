import torch


def case(name, shapes, low=-1, high=1, **attrs):
    options = {k: "batchmean" if v == "batch_mean" else v for k, v in attrs.items()}
    inputs = [s if isinstance(s, dict) else {"shape": s, "low": low, "high": high} for s in shapes]
    return dict(name=name, attrs=attrs, inputs=inputs, torch=lambda *x: loss(*x, **options))


def loss(x, t, **options):
    return torch.nn.functional.soft_margin_loss(x, t.detach(), **options)


T = {"values": [1, -1, 1, -1]}
CASES = [case("mean", [[4], T], -3, 3), case("sum", [[4], T], -3, 3, reduction="sum"),
         case("none", [[4], T], -3, 3, reduction="none")]
