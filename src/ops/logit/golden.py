import torch


def case(name, **attrs):
    run = lambda x, eps=None: torch.logit(x, eps)
    return dict(name=name, attrs=attrs, inputs=[{"values": POINTS}],
                torch=lambda x: run(x, **attrs))


POINTS = [0.0625, 0.25, 0.5, 0.75, 0.9375, 0.015625]

CASES = [
    case("points"),
    case("eps", eps=0.03125),
]
