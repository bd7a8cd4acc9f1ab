import torch


def case(reduction):
    def run(mean, logvar):
        terms = -0.5 * (1 + logvar - mean**2 - logvar.exp())
        if reduction == "none":
            return terms
        if reduction == "batch_mean":
            return terms.sum() / mean.shape[0]
        return terms.mean() if reduction == "mean" else terms.sum()

    return dict(name=reduction, attrs=dict(reduction=reduction),
                inputs=[{"shape": [3, 4], "low": -2, "high": 2}] * 2, torch=run)


CASES = [case("mean"), case("sum"), case("batch_mean"), case("none")]
