import torch


def case(name, x, slopes):
    """x: [N, ..., C]."""

    def run(x, weight):
        return torch.nn.functional.prelu(x.movedim(-1, 1), weight).movedim(1, -1)

    return dict(name=name, attrs={}, inputs=[x, {"shape": [slopes]}], torch=run)


CASES = [
    case("one_slope", {"shape": [2, 3, 2]}, 1),
    case("a_slope_a_channel", {"shape": [2, 2, 2, 3]}, 3),
    case("at_zero", {"values": [[0.0, -1.0], [2.0, 0.0]]}, 2),
]
