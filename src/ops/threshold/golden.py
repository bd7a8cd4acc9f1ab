import torch


def case(name, **attrs):
    run = lambda x, threshold=0.0, value=0.0: torch.nn.functional.threshold(x, threshold, value)
    return dict(name=name, attrs=attrs, inputs=[{"values": POINTS}],
                torch=lambda x: run(x, **attrs))


POINTS = [-30.0, -5.5, -3.0, -1.0, -0.25, 0.0, 0.25, 1.0, 2.5, 3.0, 6.0, 7.0, 30.0]

CASES = [
    case("points"),
    case("raised", threshold=-1.0, value=-7.0),
]
