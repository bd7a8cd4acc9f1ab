import torch


def case(name, x, axis=-1, p=2.0, epsilon=1e-12):
    def run(x):
        y = torch.nn.functional.normalize(x, p, axis, epsilon)
        return y, torch.linalg.vector_norm(x, p, axis).detach()

    return dict(name=name, attrs=dict(axis=axis, p=p, epsilon=epsilon), inputs=[x], torch=run)


CASES = [
    case("rows", {"shape": [3, 4], "low": -2, "high": 2}),
    case("middle", {"shape": [2, 3, 2]}, axis=1),
    case("sum_of_magnitudes", {"shape": [3, 4]}, p=1.0),
    case("cubes", {"shape": [3, 4]}, axis=0, p=3.0),
    case("short_vectors", {"values": [[0.0, 0.0], [0.125, 0.25], [3.0, -4.0]]}, epsilon=0.5),
    case("no_number", {"values": [[float("nan"), 2.0], [3.0, -4.0]]}),
    case("no_number_of_magnitudes", {"values": [[float("nan"), 2.0], [3.0, -4.0]]}, p=1.0),
]
