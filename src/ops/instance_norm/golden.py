import torch


def case(name, shape, affine=True, epsilon=1e-5):
    """shape: [N, ..., C]. The statistics are outputs through which no gradient flows."""
    channels = shape[-1]
    inputs = [{"shape": shape, "low": -2, "high": 2},
              {"shape": [channels], "low": 0.5, "high": 1.5} if affine else None,
              {"shape": [channels]} if affine else None, None, None]

    def run(x, gamma, beta, running_mean, running_var):
        y = torch.nn.functional.instance_norm(x.movedim(-1, 1), None, None, gamma, beta, True, 0.1,
                                              epsilon)
        each = x.movedim(-1, 1).reshape(shape[0], channels, -1).detach()
        return y.movedim(1, -1), each.mean(-1), each.var(-1, unbiased=False)

    return dict(name=name, attrs=dict(epsilon=epsilon), inputs=inputs, torch=run)


def update_case(name, momentum, values):
    """The running statistics after images of that many values, half of them one standard deviation
    below the mean and half of them above."""
    inputs = [{"shape": [3], "low": 0.5, "high": 1.5}] * 2
    inputs += [{"shape": [2, 3], "low": 0.5, "high": 1.5}] * 2

    def run(running_mean, running_var, mean, variance):
        running_mean, running_var = running_mean.detach().clone(), running_var.detach().clone()
        spread = torch.sqrt(variance.detach())
        center = mean.detach()
        x = torch.stack([center - spread, center + spread] * (values // 2), dim=-1)
        torch.nn.functional.instance_norm(x, running_mean, running_var, None, None, True, momentum)
        return running_mean, running_var

    return dict(name=name, op="instance_norm_update",
                attrs=dict(momentum=momentum, values=values), inputs=inputs, torch=run)


CASES = [
    case("images", [2, 2, 3, 3]),
    case("sequences", [2, 4, 2], epsilon=0.5),
    case("without_parameters", [2, 2, 2, 2], affine=False),
    update_case("running_statistics", 0.1, 4),
    update_case("large_momentum", 0.75, 2),
]

EXAMPLES = {"instance_norm": {"x": (28, 28, 16)}}
