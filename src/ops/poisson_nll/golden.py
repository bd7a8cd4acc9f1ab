import torch


def case(name, shapes, low=-1, high=1, **attrs):
    options = {k: "batchmean" if v == "batch_mean" else v for k, v in attrs.items()}
    inputs = [s if isinstance(s, dict) else {"shape": s, "low": low, "high": high} for s in shapes]
    return dict(name=name, attrs=attrs, inputs=inputs, torch=lambda *x: loss(*x, **options))


def loss(x, t, log_input=True, full=False, epsilon=1e-8, reduction="mean"):
    return torch.nn.functional.poisson_nll_loss(x, t.detach(), log_input, full, eps=epsilon, reduction=reduction)


T = {"values": [[0.0, 1.0, 2.0], [3.0, 7.0, 1.0]]}
X = {"shape": [2, 3], "low": 0.25, "high": 2}
CASES = [case("logarithms", [[2, 3], T]), case("rates", [X, T], log_input=False, reduction="sum"),
         case("full", [[2, 3], T], full=True, reduction="none")]
