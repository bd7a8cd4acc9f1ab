import torch


def case(name, reduction, delta=1.0):
    def run(x, t):
        loss = torch.nn.functional.huber_loss(
            x, t, reduction="sum" if reduction == "batch_mean" else reduction, delta=delta)
        return loss / x.shape[0] if reduction == "batch_mean" else loss

    inputs = [{"shape": [2, 5], "low": -2, "high": 2}] * 2
    return dict(name=name, attrs=dict(reduction=reduction, delta=delta), inputs=inputs, torch=run)


CASES = [case("mean", "mean"), case("none", "none", 0.5), case("narrow", "sum", 0.25), case("batch_mean", "batch_mean", 3.0)]
