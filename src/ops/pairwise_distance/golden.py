import torch


def case(name, a, b, p=2.0, epsilon=1e-6, keepdims=False):
    return dict(name=name, attrs=dict(p=p, epsilon=epsilon, keepdims=keepdims),
                inputs=[{"shape": a}, {"shape": b}],
                torch=lambda x, y: torch.nn.functional.pairwise_distance(x, y, p, epsilon, keepdims))


CASES = [case("rows", [3, 4], [3, 4]), case("magnitudes", [3, 4], [3, 4], 1.0), case("kept", [2, 3], [3], keepdims=True)]
