import torch

TARGETS = [[1, 2, 2], [3, 1, 2]]


def case(name, reduction="mean", lengths=None, blank=0, targets=TARGETS, zero_infinity=False):
    """The op takes logits; PyTorch log probabilities, steps first. Its second output is what it
    keeps for the gradient."""
    inputs = [{"shape": [2, 6, 4], "low": -2, "high": 2}, {"values": targets, "dtype": "i32"}]
    inputs += [{"values": v, "dtype": "i32"} if v else None for v in lengths or (None, None)]

    def run(x, targets, steps, labels):
        steps = torch.full((2,), 6) if steps is None else steps
        labels = torch.full((2,), targets.shape[1]) if labels is None else labels
        log_probs = torch.log_softmax(x, -1).transpose(0, 1)
        return torch.nn.functional.ctc_loss(log_probs, targets.long(), steps.long(), labels.long(),
                                            blank, reduction, zero_infinity)

    return dict(name=name, op="ctc", attrs=dict(reduction=reduction, blank=blank,
                                                zero_infinity=zero_infinity),
                inputs=inputs, torch=run)


CASES = [
    case("mean"),
    case("none", reduction="none"),
    case("sum", reduction="sum"),
    case("lengths", lengths=([5, 6], [3, 1])),
    case("no_labels", lengths=([5, 6], [2, 0])),
    case("another_blank", blank=3, targets=[[1, 1, 0], [0, 2, 1]]),
    case("too_long", lengths=([3, 6], [3, 3]), zero_infinity=True),
]

EXAMPLES = {"ctc": {"logits": (9, 5)}}
