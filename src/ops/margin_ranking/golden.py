import torch


def case(name, shapes, low=-1, high=1, **attrs):
    options = {k: "batchmean" if v == "batch_mean" else v for k, v in attrs.items()}
    inputs = [s if isinstance(s, dict) else {"shape": s, "low": low, "high": high} for s in shapes]
    return dict(name=name, attrs=attrs, inputs=inputs, torch=lambda *x: loss(*x, **options))


def loss(a, b, t, **options):
    return torch.nn.functional.margin_ranking_loss(a, b, t.detach(), **options)


T = {"values": [1, -1, 1, -1]}
CASES = [case("mean", [[4], [4], T]), case("margin", [[4], [4], T], margin=0.5, reduction="sum"),
         case("none", [[4], [4], T], margin=0.25, reduction="none")]

EXAMPLES = {"margin_ranking": {"a": (), "b": (), "order": ()}}
