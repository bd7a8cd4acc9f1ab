import torch


def case(name, shape, dims=1, affine=True, bias=True, epsilon=1e-5):
    last = shape[len(shape) - dims:]
    inputs = [{"shape": shape, "low": -2, "high": 2},
              {"shape": last, "low": 0.5, "high": 1.5} if affine else None,
              {"shape": last} if affine and bias else None]

    def run(x, gamma, beta):
        y = torch.nn.functional.layer_norm(x, last, gamma, beta, epsilon)
        axes = list(range(len(shape) - dims, len(shape)))
        variance = x.var(axes, unbiased=False)
        return y, x.mean(axes).detach(), (1 / torch.sqrt(variance + epsilon)).detach()

    return dict(name=name, attrs=dict(dims=dims, epsilon=epsilon), inputs=inputs, torch=run)


CASES = [
    case("last", [3, 5]),
    case("two_dimensions", [2, 3, 4], dims=2),
    case("without_parameters", [2, 2, 4], affine=False),
    case("without_bias", [4, 3], bias=False),
    case("epsilon", [4, 3], epsilon=0.5),
]
