import torch


def case(name, logits, labels, reduction="mean", weight=False, smoothing=0.0, ignore=-100):
    """logits: [N, ..., classes]; PyTorch wants the classes second."""

    def run(x, t, w=None):
        probabilities = t.dtype == x.dtype
        t = t.movedim(-1, 1) if probabilities else t.long()
        loss = torch.nn.functional.cross_entropy(
            x.movedim(-1, 1), t, None if w is None else w.detach(), ignore_index=ignore,
            label_smoothing=smoothing, reduction="sum" if reduction == "batch_mean" else reduction)
        return loss / x.shape[0] if reduction == "batch_mean" else loss

    inputs = [{"shape": logits, "low": -3, "high": 3}, labels]
    if weight:
        inputs.append({"shape": logits[-1:], "low": 0.25, "high": 1})
    return dict(name=name, inputs=inputs, torch=run,
                attrs=dict(reduction=reduction, label_smoothing=smoothing, ignore_index=ignore))


INDICES = {"values": [2, 0, 3], "dtype": "i32"}


CASES = [
    case("indices", [3, 4], {"values": [2, 0, 3], "dtype": "i32"}),
    case("pixels", [2, 2, 3], {"values": [[2, 0], [1, 1]], "dtype": "i32"}),
    case("pixels_sum", [2, 2, 3], {"values": [[2, 0], [1, 1]], "dtype": "i32"}, "sum"),
    case("pixels_batch_mean", [2, 2, 3], {"values": [[0, 0], [2, 1]], "dtype": "i32"}, "batch_mean"),
    case("probabilities", [2, 4], {"shape": [2, 4], "low": 0, "high": 0.5}),
    case("pixel_probabilities", [2, 2, 3], {"shape": [2, 2, 3], "low": 0, "high": 0.5}, "batch_mean"),
    case("smoothed", [3, 4], INDICES, smoothing=0.25),
    case("weighted", [3, 4], INDICES, weight=True),
    case("weighted_and_smoothed", [3, 4], INDICES, weight=True, smoothing=0.25),
    case("weighted_sum", [3, 4], INDICES, "sum", weight=True, smoothing=0.125),
    case("ignored", [3, 4], INDICES, weight=True, smoothing=0.25, ignore=0),
    case("none", [2, 2, 3], {"values": [[2, 0], [1, 1]], "dtype": "i32"}, "none"),
    case("none_weighted", [3, 4], INDICES, "none", weight=True, smoothing=0.25, ignore=0),
    case("none_probabilities", [2, 4], {"shape": [2, 4], "low": 0, "high": 0.5}, "none"),
    case("pixels_ignored", [2, 2, 3], {"values": [[2, -1], [1, -1]], "dtype": "i32"}, ignore=-1),
    case("weighted_probabilities", [2, 4], {"shape": [2, 4], "low": 0, "high": 0.5}, weight=True,
         smoothing=0.25),
]
