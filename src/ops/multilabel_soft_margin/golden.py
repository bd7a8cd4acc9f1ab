import torch


def case(name, shapes, low=-1, high=1, **attrs):
    options = {k: "batchmean" if v == "batch_mean" else v for k, v in attrs.items()}
    inputs = [s if isinstance(s, dict) else {"shape": s, "low": low, "high": high} for s in shapes]
    return dict(name=name, attrs=attrs, inputs=inputs, torch=lambda *x: loss(*x, **options))


def loss(x, t, w=None, reduction="mean"):
    return torch.nn.functional.multilabel_soft_margin_loss(x, t.detach(), w, reduction=reduction)


T = {"values": [[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]]}
CASES = [case("mean", [[2, 3], T], -3, 3), case("weighted", [[2, 3], T, [3]], 0.25, 3, reduction="sum"),
         case("none", [[2, 3], T], -3, 3, reduction="none")]
