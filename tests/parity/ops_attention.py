"""Attention."""
import thimble as tb
from layouts import moved
from registry import RANDOM, Refused, op


def _steps_first(x):
    """[N..., H, T, D] to [N, T, H, D]; PyTorch's heads may be missing."""
    return tb.transpose(x, (0, 2, 1, 3))


@op("nn.functional.scaled_dot_product_attention", "scaled_dot_product_attention", times=10)
def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None,
                                 enable_gqa=False):
    if dropout_p > 0:
        raise Refused(RANDOM)
    bare = all(x.ndim == 3 for x in (q, k, v))  # without heads: one
    if any(x.ndim < 4 for x in (q, k, v)):
        q, k, v = (x if x.ndim == 4 else tb.reshape(x, (1, *x.shape)) for x in (q, k, v))
        batch = max(x.shape[0] for x in (q, k, v))
        q, k, v = (tb.broadcast_to(x, (batch, *x.shape[1:])) for x in (q, k, v))
    options = {"causal": is_causal}
    if scale is not None:
        options["scale"] = scale
    if attn_mask is not None and attn_mask.ndim < 4:
        attn_mask = tb.reshape(attn_mask, (1,) * (4 - attn_mask.ndim) + tuple(attn_mask.shape))
    y = tb.scaled_dot_product_attention(*(_steps_first(x) for x in (q, k, v)), attn_mask, **options)
    y = _steps_first(y)
    return tb.reshape(y, y.shape[1:]) if bare else y


