import torch


def case(name, **attrs):
    run = lambda x, **a: torch.nn.functional.celu(x, **a)
    return dict(name=name, attrs=attrs, inputs=[{"values": POINTS}],
                torch=lambda x: run(x, **attrs))


POINTS = [-5.5, -3.0, -1.0, -0.25, 0.0, 0.25, 1.0, 2.5, 3.0, 6.0, 7.0, 30.0]

CASES = [
    case("points"),
    case("wide", alpha=2.5),
    case("negative", alpha=-1.5),
]
