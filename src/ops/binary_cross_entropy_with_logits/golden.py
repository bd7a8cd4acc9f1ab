import torch


def case(name, x, reduction):
    def run(x, t):
        loss = torch.nn.functional.binary_cross_entropy_with_logits(
            x, t, reduction="sum" if reduction == "batch_mean" else reduction)
        return loss / x.shape[0] if reduction == "batch_mean" else loss

    targets = {"shape": x["shape"] if "shape" in x else [len(x["values"])], "low": 0, "high": 1}
    return dict(name=name, attrs=dict(reduction=reduction), inputs=[x, targets], torch=run)


SMALL = {"shape": [2, 3, 2], "low": -4, "high": 4}
CASES = [case(reduction, SMALL, reduction) for reduction in ("mean", "sum", "batch_mean", "none")]
CASES += [case("far_out", {"values": [-90.0, -30.0, 30.0, 90.0]}, "sum")]


def weighted(name, weight, pos_weight, reduction="mean"):
    def run(x, t, w, p):
        return torch.nn.functional.binary_cross_entropy_with_logits(
            x, t, None if w is None else w.detach(), pos_weight=None if p is None else p.detach(),
            reduction=reduction)

    inputs = [{"shape": [2, 3], "low": -4, "high": 4}, {"shape": [2, 3], "low": 0, "high": 1}]
    inputs += [{"values": v} if v else None for v in (weight, pos_weight)]
    return dict(name=name, attrs=dict(reduction=reduction), inputs=inputs, torch=run)


CASES += [weighted("weight", [[1.0], [0.5]], None), weighted("pos_weight", None, [2.0, 0.5, 1.0], "sum"),
          weighted("both_weights", [0.5, 1.0, 2.0], [2.0, 0.5, 1.0], "none")]

EXAMPLES = {"binary_cross_entropy_with_logits": {"logits": (28, 28, 1)}}
