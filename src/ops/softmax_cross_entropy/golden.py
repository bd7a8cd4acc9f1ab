import torch


def case(name, logits, labels, reduction="mean"):
    """logits: [N, ..., classes]; PyTorch wants the classes second."""

    def run(x, t):
        probabilities = t.dtype == x.dtype
        t = t.detach().movedim(-1, 1) if probabilities else t.long()
        loss = torch.nn.functional.cross_entropy(
            x.movedim(-1, 1), t, reduction="sum" if reduction == "batch_mean" else reduction)
        return loss / x.shape[0] if reduction == "batch_mean" else loss

    return dict(name=name, attrs=dict(reduction=reduction),
                inputs=[{"shape": logits, "low": -3, "high": 3}, labels], torch=run)


CASES = [
    case("indices", [3, 4], {"values": [2, 0, 3], "dtype": "i32"}),
    case("pixels", [2, 2, 3], {"values": [[2, 0], [1, 1]], "dtype": "i32"}),
    case("pixels_sum", [2, 2, 3], {"values": [[2, 0], [1, 1]], "dtype": "i32"}, "sum"),
    case("pixels_batch_mean", [2, 2, 3], {"values": [[0, 0], [2, 1]], "dtype": "i32"}, "batch_mean"),
    case("probabilities", [2, 4], {"shape": [2, 4], "low": 0, "high": 0.5}),
    case("pixel_probabilities", [2, 2, 3], {"shape": [2, 2, 3], "low": 0, "high": 0.5}, "batch_mean"),
]
