import torch


def case(name, x, epsilon=1e-5):
    channels = x[-1]
    inputs = [{"shape": x, "low": -2, "high": 2}]
    inputs += [{"shape": [channels], "low": 0.5, "high": 1.5}] * 4

    def run(x, gamma, beta, mean, variance):
        # Written out: torch's own takes no gradient by the statistics.
        return (x - mean) / torch.sqrt(variance + epsilon) * gamma + beta

    return dict(name=name, attrs=dict(epsilon=epsilon), inputs=inputs, torch=run)


CASES = [case("images", [2, 3, 2, 3]), case("epsilon", [5, 4], epsilon=0.1)]

EXAMPLES = {
    "batch_norm_inference": {
        "gamma": {"shape": (32,), "batch": False}, "beta": {"shape": (32,), "batch": False},
        "mean": {"shape": (32,), "batch": False}, "variance": {"shape": (32,), "batch": False},
    },
}
