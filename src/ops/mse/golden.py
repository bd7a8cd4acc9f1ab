import torch


def case(reduction):
    def run(x, t):
        loss = torch.nn.functional.mse_loss(x, t,
                                            reduction="sum" if reduction == "batch_mean" else reduction)
        return loss / x.shape[0] if reduction == "batch_mean" else loss

    return dict(name=reduction, attrs=dict(reduction=reduction), inputs=[{"shape": [2, 3, 2]}] * 2,
                torch=run)


CASES = [case("mean"), case("sum"), case("batch_mean"), case("none")]
