import torch


def case(name, q, k, v, mask=None, **attrs):
    """q: [N, T, H, D], k: [N, S, G, D], v: [N, S, G, E]."""
    attrs = dict(dict(causal=False, scale=0.5), **attrs)

    def run(rng, q, k, v, mask=None):
        y = torch.nn.functional.scaled_dot_product_attention(
            q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), mask,
            is_causal=attrs["causal"], scale=attrs["scale"], enable_gqa=True)
        heads = q.shape[2] // k.shape[2]
        scores = q.transpose(1, 2) @ k.transpose(1, 2).repeat_interleave(heads, 1).mT
        scores = scores * attrs["scale"] + (0 if mask is None else mask)
        if attrs["causal"]:
            scores = scores.masked_fill(torch.ones_like(scores).triu(1) > 0, -torch.inf)
        return y.transpose(1, 2), scores.logsumexp(-1).detach()

    shapes = [q, k, v] + ([mask] if mask else [])
    inputs = [None] + [{"shape": shape, "low": -1, "high": 1} for shape in shapes]
    return dict(name=name, attrs=attrs, inputs=inputs, torch=run)


CASES = [
    case("plain", [2, 3, 1, 2], [2, 4, 1, 2], [2, 4, 1, 3]),
    case("causal", [1, 4, 2, 2], [1, 4, 2, 2], [1, 4, 2, 2], causal=True),
    case("grouped", [1, 2, 4, 2], [1, 3, 2, 2], [1, 3, 2, 1]),
    case("mask", [1, 3, 2, 2], [1, 2, 2, 2], [1, 2, 2, 2], mask=[1, 1, 3, 2]),
]
