import torch


def case(name, **attrs):
    run = lambda x, **a: torch.nn.functional.hardtanh(x, **a)
    return dict(name=name, attrs=attrs, inputs=[{"values": POINTS}],
                torch=lambda x: run(x, **attrs))


POINTS = [-3.0, -1.5, -0.75, -0.25, 0.0, 0.25, 0.75, 1.5, 3.0, -1.0, 1.0]

CASES = [
    case("points"),
    case("wide", min_val=-4.0, max_val=6.0),
]
