import torch


def case(name, shapes, low=-1, high=1, **attrs):
    options = {k: "batchmean" if v == "batch_mean" else v for k, v in attrs.items()}
    inputs = [s if isinstance(s, dict) else {"shape": s, "low": low, "high": high} for s in shapes]
    return dict(name=name, attrs=attrs, inputs=inputs, torch=lambda *x: loss(*x, **options))


def loss(mean, target, var, full=False, epsilon=1e-6, reduction="mean"):
    return torch.nn.functional.gaussian_nll_loss(mean, target, var, full, epsilon, reduction)


VAR = {"shape": [3, 4], "low": 0.25, "high": 2}
CASES = [case("mean", [[3, 4], [3, 4], VAR]), case("full", [[3, 4], [3, 4], VAR], full=True, reduction="sum"),
         case("one_variance_a_row", [[3, 4], [3, 4], {"shape": [3, 1], "low": 0.25, "high": 2}], reduction="none"),
         case("one_target", [[5], [1], {"values": [0.5]}], reduction="none")]
