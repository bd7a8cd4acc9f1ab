import torch


def case(name, shape, size, alpha=0.5, beta=0.75, k=1.0):
    """shape: [N, ..., C]; an alpha large enough to matter in a few numbers."""

    def run(x):
        y = torch.nn.functional.local_response_norm(x.movedim(-1, 1), size, alpha, beta, k)
        return y.movedim(1, -1)

    return dict(name=name, attrs=dict(size=size, alpha=alpha, beta=beta, k=k),
                inputs=[{"shape": shape, "low": -2, "high": 2}], torch=run)


CASES = [
    case("odd", [2, 2, 2, 7], 5),
    case("even", [2, 3, 6], 4, beta=0.5, k=2.0),
    case("wider_than_channels", [2, 2, 2, 2], 7, alpha=1.0, beta=1.25),
]
