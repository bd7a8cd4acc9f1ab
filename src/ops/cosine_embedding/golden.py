import torch


def case(name, shape, target, reduction="mean", margin=0.0):
    def run(a, b, t):
        return torch.nn.functional.cosine_embedding_loss(a, b, t, margin, reduction=reduction)

    return dict(name=name, attrs=dict(reduction=reduction, margin=margin), torch=run,
                inputs=[{"shape": shape}] * 2 + [{"values": target, "dtype": "i32"}])


CASES = [
    case("mean", [4, 3], [1, -1, -1, 1]),
    case("none", [4, 3], [1, -1, -1, 1], reduction="none"),
    case("sum_and_margin", [4, 3], [-1, -1, -1, 1], reduction="sum", margin=0.25),
    case("other_targets", [3, 2], [1, 0, -1]),
    case("one_pair", [3], 1),
]
