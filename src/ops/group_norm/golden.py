import torch


def case(name, shape, groups, affine=True, epsilon=1e-5):
    """shape: [N, ..., C]. The statistics are outputs through which no gradient flows."""
    channels = shape[-1]
    inputs = [{"shape": shape, "low": -2, "high": 2},
              {"shape": [channels], "low": 0.5, "high": 1.5} if affine else None,
              {"shape": [channels]} if affine else None]

    def run(x, gamma, beta):
        y = torch.nn.functional.group_norm(x.movedim(-1, 1), groups, gamma, beta, epsilon)
        each = x.movedim(-1, 1).reshape(shape[0], groups, -1).detach()
        return y.movedim(1, -1), each.mean(-1), each.var(-1, unbiased=False)

    return dict(name=name, attrs=dict(groups=groups, epsilon=epsilon), inputs=inputs, torch=run)


CASES = [
    case("two_groups", [2, 2, 3, 4], 2),
    case("one_group", [2, 3, 2], 1),
    case("every_channel", [2, 2, 2, 3], 3),
    case("vectors", [3, 6], 2, epsilon=0.5),
    case("without_parameters", [2, 2, 2, 2], 1, affine=False),
]

EXAMPLES = {"group_norm": {"x": (28, 28, 16)}}
