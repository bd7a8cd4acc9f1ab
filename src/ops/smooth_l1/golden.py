import torch


def case(name, shapes, low=-1, high=1, **attrs):
    options = {k: "batchmean" if v == "batch_mean" else v for k, v in attrs.items()}
    inputs = [s if isinstance(s, dict) else {"shape": s, "low": low, "high": high} for s in shapes]
    return dict(name=name, attrs=attrs, inputs=inputs, torch=lambda *x: loss(*x, **options))


loss = torch.nn.functional.smooth_l1_loss
CASES = [case("mean", [[2, 5]] * 2, -2, 2), case("narrow", [[2, 5]] * 2, -2, 2, reduction="sum", beta=0.25),
         case("none", [[2, 5]] * 2, -2, 2, reduction="none", beta=2.0), case("lines", [[2, 5]] * 2, beta=0.0)]
