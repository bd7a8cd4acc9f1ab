import torch


def case(name, x, epsilon=1e-5):
    channels = x[-1]
    inputs = [{"shape": x, "low": -2, "high": 2}]
    inputs += [{"shape": [channels], "low": 0.5, "high": 1.5}] * 4

    def run(x, gamma, beta, mean, variance):
        y = torch.nn.functional.batch_norm(x.reshape(-1, channels), mean.detach(),
                                           variance.detach(), gamma, beta, False, 0.0, epsilon)
        return y.reshape(x.shape).detach()

    return dict(name=name, attrs=dict(epsilon=epsilon), inputs=inputs, torch=run)


CASES = [case("images", [2, 3, 2, 3]), case("epsilon", [5, 4], epsilon=0.1)]
