import torch


def case(name, shape, reduction="mean", margin=1.0, p=2.0, swap=False):
    def run(a, p_, n):
        return torch.nn.functional.triplet_margin_loss(a, p_, n, margin=margin, p=p, swap=swap,
                                                       reduction=reduction)

    return dict(name=name, attrs=dict(reduction=reduction, margin=margin, p=p, swap=swap),
                inputs=[{"shape": shape}] * 3, torch=run)


CASES = [
    case("mean", [4, 3]),
    case("none", [4, 3], reduction="none"),
    case("sum", [4, 3], reduction="sum", margin=0.25),
    case("magnitudes", [4, 3], p=1.0),
    case("cubes", [3, 2], p=3.0),
    case("swap", [5, 3], swap=True),
]
