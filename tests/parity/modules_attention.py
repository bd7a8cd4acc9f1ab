"""Attention and the layers of transformers, which are dense layers, norms and attention."""
import torch

import ops_attention  # noqa: F401  the functions' adapters
import thimble as tb
from layouts import moved
from registry import OPS, module

# Sums over the keys, several times one after the other.
_TIMES = 10


def _first(result):
    """PyTorch's result without the weights, which thimble never stores."""
    return result[0]


def part(w, name):
    """The weights of a part of a module."""
    return {key[len(name) + 1:]: each for key, each in w.items() if key.startswith(name + ".")}


def _added(mask):
    """A mask as numbers that are added to scores: minus infinity where it hides."""
    if mask is None or mask.dtype == "f32":
        return mask
    return tb.where(mask, float("-inf"), 0.0)


def _mask(hidden_keys, mask, batch, heads):
    """[N or 1, heads or 1, T or 1, S] of PyTorch's two masks, or None."""
    hidden_keys, mask = _added(hidden_keys), _added(mask)
    if mask is not None:
        split = (batch, heads) if mask.ndim == 3 else (1, 1)
        mask = tb.reshape(mask, (*split, *mask.shape[-2:]))
    if hidden_keys is None:
        return mask
    hidden_keys = tb.reshape(hidden_keys, (-1, 1, 1, hidden_keys.shape[-1]))
    return hidden_keys if mask is None else hidden_keys + mask


def attention(m, w, query, key, value, hidden_keys=None, mask=None):
    """torch.nn.MultiheadAttention's first result."""
    bare = query.ndim == 2
    if bare:
        query, key, value = (tb.reshape(x, (1, *x.shape)) for x in (query, key, value))
    elif not m.batch_first:
        query, key, value = (moved(x, 1, 0) for x in (query, key, value))
    mask = _mask(hidden_keys, mask, query.shape[0], m.num_heads)
    own = part(w, "out_proj")
    if m.bias_k is None and not m.add_zero_attn:
        y = tb.multi_head_attention(query, key, value, mask, w["in_proj_weight"], w.get("in_proj_bias"),
                                    own["weight"], own.get("bias"), heads=m.num_heads)
    else:
        y = _with_more_keys(m, w, query, key, value, mask)
        y = tb.dense(y, own["weight"], own.get("bias"))
    if bare:
        return tb.reshape(y, y.shape[1:])
    return y if m.batch_first else moved(y, 0, 1)


def _with_more_keys(m, w, query, key, value, mask):
    """Attention to keys that stand for no step: a trained one, and one of zeros."""
    width, n = m.embed_dim, query.shape[0]
    rows = [slice(k * width, (k + 1) * width) for k in range(3)]
    bias = w.get("in_proj_bias")
    q, k, v = (tb.dense(x, w["in_proj_weight"][r], None if bias is None else bias[r])
               for x, r in zip((query, key, value), rows))
    more = 0
    if m.bias_k is not None:
        k, v = (tb.concat([x, tb.broadcast_to(w[name], (n, 1, width))], axis=1)
                for x, name in ((k, "bias_k"), (v, "bias_v")))
        more += 1
    if m.add_zero_attn:
        k, v = (tb.pad(x, before=(0, 0, 0), after=(0, 1, 0)) for x in (k, v))
        more += 1
    if mask is not None:  # hides none of these
        mask = tb.pad(mask, before=(0,) * 4, after=(0, 0, 0, more))
    q, k, v = (tb.reshape(x, (n, x.shape[1], m.num_heads, -1)) for x in (q, k, v))
    y = tb.scaled_dot_product_attention(q, k, v, mask)
    return tb.reshape(y, (n, y.shape[1], width))


@module("nn.MultiheadAttention", "multi_head_attention scaled_dot_product_attention", times=_TIMES,
        outputs=_first)
def multihead_attention(m, w, query, key, value, key_padding_mask=None, attn_mask=None):
    return attention(m, w, query, key, value, key_padding_mask, attn_mask)


def _dense(w, x):
    return tb.dense(x, w["weight"], w.get("bias"))


def _norm(m, w, x):
    return OPS["nn.functional.layer_norm"].call(x, m.normalized_shape, w["weight"], w.get("bias"), m.eps)


def _feed_forward(m, w, x):
    activation = {torch.nn.functional.relu: tb.relu, torch.nn.functional.gelu: tb.gelu}[m.activation]
    return _dense(part(w, "linear2"), activation(_dense(part(w, "linear1"), x)))


def _blocks(m, w, x, blocks):
    """x after blocks, each with the norm of its number beside it, before it or after the sum."""
    for number, block in enumerate(blocks, 1):
        norm = getattr(m, f"norm{number}"), part(w, f"norm{number}")
        x = x + block(_norm(*norm, x)) if m.norm_first else _norm(*norm, x + block(x))
    return x


def encoder_layer(m, w, x, mask=None, hidden_keys=None):
    own = part(w, "self_attn")
    return _blocks(m, w, x, [lambda y: attention(m.self_attn, own, y, y, y, hidden_keys, mask),
                             lambda y: _feed_forward(m, w, y)])


def decoder_layer(m, w, x, memory, mask=None, memory_mask=None, hidden_keys=None, hidden_memory=None):
    own, other = part(w, "self_attn"), part(w, "multihead_attn")
    return _blocks(m, w, x, [
        lambda y: attention(m.self_attn, own, y, y, y, hidden_keys, mask),
        lambda y: attention(m.multihead_attn, other, y, memory, memory, hidden_memory, memory_mask),
        lambda y: _feed_forward(m, w, y)])


def _stack(layer, m, w, x, *others):
    for number, each in enumerate(m.layers):
        x = layer(each, part(w, f"layers.{number}"), x, *others)
    return x if m.norm is None else _norm(m.norm, part(w, "norm"), x)


_OURS = "multi_head_attention layer_norm dense"


@module("nn.TransformerEncoderLayer", _OURS, times=_TIMES)
def transformer_encoder_layer(m, w, src, src_mask=None, src_key_padding_mask=None):
    return encoder_layer(m, w, src, src_mask, src_key_padding_mask)


@module("nn.TransformerEncoder", _OURS, times=2 * _TIMES)
def transformer_encoder(m, w, src, mask=None, src_key_padding_mask=None):
    return _stack(encoder_layer, m, w, src, mask, src_key_padding_mask)


@module("nn.TransformerDecoderLayer", _OURS, times=_TIMES)
def transformer_decoder_layer(m, w, tgt, memory, tgt_mask=None, memory_mask=None,
                              tgt_key_padding_mask=None, memory_key_padding_mask=None):
    return decoder_layer(m, w, tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask,
                         memory_key_padding_mask)


@module("nn.Transformer", _OURS, times=2 * _TIMES)
def transformer(m, w, src, tgt, src_mask=None, tgt_mask=None, memory_mask=None,
                src_key_padding_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None):
    memory = _stack(encoder_layer, m.encoder, part(w, "encoder"), src, src_mask, src_key_padding_mask)
    return _stack(decoder_layer, m.decoder, part(w, "decoder"), tgt, memory, tgt_mask, memory_mask,
                  tgt_key_padding_mask, memory_key_padding_mask)
