import torch
from torch import nn
from torch.nn import functional


def case(name, query, key=None, mask=None, bias=True, heads=2, causal=False):
    """torch.nn.functional.multi_head_attention_forward, positions first there."""
    width = query[2]

    def run(q, k, _, extra, w, b, ow, ob):
        k = v = q if k is None else k
        if extra is not None:
            extra = extra.expand(q.shape[0], heads, q.shape[1], k.shape[1]) \
                .reshape(-1, q.shape[1], k.shape[1])
        if causal:
            extra = torch.full((q.shape[1], k.shape[1]), -torch.inf, dtype=q.dtype).triu(1)
        y, _ = functional.multi_head_attention_forward(
            q.transpose(0, 1), k.transpose(0, 1), v.transpose(0, 1), width, heads, w, b, None, None,
            False, 0.0, ow, ob, need_weights=False, attn_mask=extra)
        return y.transpose(0, 1)

    shapes = [query, key, None, mask, [3 * width, width], [3 * width] if bias else None,
              [width, width], [width] if bias else None]
    return dict(name=name, op="multi_head_attention", attrs=dict(heads=heads, causal=causal, bias=bias),
                inputs=[shape and {"shape": shape} for shape in shapes], torch=run)


CASES = [
    case("self", [2, 3, 4]),
    case("causal", [1, 4, 4], causal=True, bias=False),
    case("cross", [1, 3, 4], key=[1, 2, 4], heads=4),
    case("mask", [1, 3, 4], mask=[1, 1, 3, 3], heads=1),
]

EXAMPLES = {
    "multi_head_attention": {"x": (32, 24)},
    "multi_head_attention_with_weights": {"x": (32, 24), "mask": (1, 1, 32)},
}
