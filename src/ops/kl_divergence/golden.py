import torch

REDUCTIONS = {"mean": "mean", "sum": "sum", "batch_mean": "batchmean", "none": "none"}


def case(name, reduction, target, log_target=False, constant=False):
    return dict(name=name, attrs=dict(reduction=reduction, log_target=log_target),
                inputs=[{"shape": [2, 4], "low": -3, "high": 0}, target],
                torch=lambda x, t: torch.nn.functional.kl_div(
                    x, t.detach() if constant else t, reduction=REDUCTIONS[reduction], log_target=log_target))


SHARES = {"shape": [2, 4], "low": 0.0625, "high": 1}
CASES = [
    case("mean", "mean", SHARES),
    case("sum", "sum", SHARES),
    case("none", "none", SHARES),
    case("batch_mean", "batch_mean", SHARES),
    case("zeros", "sum", {"values": [[0.0, 1.0, 0.0, 0.0], [0.5, 0.0, 0.5, 0.0]]},
         constant=True),
    case("logarithms", "batch_mean", {"shape": [2, 4], "low": -3, "high": 0}, True),
]

EXAMPLES = {"kl_divergence": {"target": (10,)}}
