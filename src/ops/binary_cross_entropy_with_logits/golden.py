import torch


def case(name, x, reduction):
    def run(x, t):
        loss = torch.nn.functional.binary_cross_entropy_with_logits(
            x, t.detach(), reduction="sum" if reduction == "batch_mean" else reduction)
        return loss / x.shape[0] if reduction == "batch_mean" else loss

    targets = {"shape": x["shape"] if "shape" in x else [len(x["values"])], "low": 0, "high": 1}
    return dict(name=name, attrs=dict(reduction=reduction), inputs=[x, targets], torch=run)


SMALL = {"shape": [2, 3, 2], "low": -4, "high": 4}
CASES = [case(reduction, SMALL, reduction) for reduction in ("mean", "sum", "batch_mean")]
CASES += [case("far_out", {"values": [-90.0, -30.0, 30.0, 90.0]}, "sum")]
