import torch


def case(name, shape, dims=1, affine=True, epsilon=1e-5):
    last = shape[len(shape) - dims:]
    inputs = [{"shape": shape, "low": -2, "high": 2},
              {"shape": last, "low": 0.5, "high": 1.5} if affine else None]

    def run(x, gamma):
        y = torch.nn.functional.rms_norm(x, last, gamma, epsilon)
        squares = x.square().mean(list(range(len(shape) - dims, len(shape))))
        return y, (1 / torch.sqrt(squares + epsilon)).detach()

    return dict(name=name, attrs=dict(dims=dims, epsilon=epsilon), inputs=inputs, torch=run)


CASES = [
    case("last", [3, 5]),
    case("two_dimensions", [2, 3, 4], dims=2),
    case("without_scale", [2, 2, 4], affine=False),
    case("epsilon", [4, 3], epsilon=0.5),
]
