import torch


def case(name, x, affine=True, momentum=0.1, epsilon=1e-5):
    """x: [N, ..., C]. The statistics are outputs through which no gradient flows."""
    channels = x[-1]
    inputs = [{"shape": x, "low": -2, "high": 2}]
    inputs += [{"shape": [channels], "low": 0.5, "high": 1.5} if affine else None] * 2
    inputs += [{"shape": [channels], "low": 0.5, "high": 1.5}] * 2

    def run(x, gamma, beta, running_mean, running_var):
        last = x.reshape(-1, channels)
        y = torch.nn.functional.batch_norm(last, running_mean.detach().clone(),
                                           running_var.detach().clone(), gamma, beta, True,
                                           momentum, epsilon)
        return (y.reshape(x.shape), last.mean(0).detach(),
                last.var(0, unbiased=False).detach())

    return dict(name=name, attrs=dict(momentum=momentum, epsilon=epsilon), inputs=inputs, torch=run)


def update_case(name, momentum, values):
    """The running statistics after a batch of that many values a channel, half of them one standard
    deviation below the mean and half of them above."""
    inputs = [{"shape": [3], "low": 0.5, "high": 1.5}] * 4

    def run(running_mean, running_var, mean, variance):
        mean, variance = mean.detach(), variance.detach()
        deviation = variance.sqrt()
        x = torch.cat([torch.stack([mean - deviation, mean + deviation])] * (values // 2))
        new_mean, new_var = running_mean.detach().clone(), running_var.detach().clone()
        torch.nn.functional.batch_norm(x, new_mean, new_var, training=True, momentum=momentum)
        return new_mean, new_var

    return dict(name=name, op="batch_norm_update", attrs=dict(momentum=momentum, values=values),
                inputs=inputs, torch=run)


CASES = [
    case("images", [2, 3, 2, 3]),
    case("one_channel", [3, 2, 2, 1]),
    case("vectors", [5, 4], epsilon=0.1),
    case("without_scale_and_shift", [2, 2, 2, 3], affine=False),
    update_case("update", 0.1, 6),
    update_case("update_of_two_values", 0.25, 2),
]
