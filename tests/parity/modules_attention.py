"""Attention and the layers of transformers, which are dense layers, norms and attention."""
import torch

import ops_attention  # noqa: F401  the functions' adapters
import thimble as tb
from layouts import moved
from registry import OPS, module, op

# Sums over the keys, several times one after the other.
_TIMES = 10


def part(w, name):
    """The weights of a part of a module."""
    return {key[len(name) + 1:]: each for key, each in w.items() if key.startswith(name + ".")}


def _added(mask):
    """A mask as numbers that are added to scores: minus infinity where it hides."""
    if mask is None or mask.dtype == "f32":
        return mask
    return tb.where(mask, float("-inf"), 0.0)


def masks(hidden_keys, mask, batch, heads):
    """[N or 1, heads or 1, T or 1, S] of PyTorch's two masks, or None."""
    hidden_keys, mask = _added(hidden_keys), _added(mask)
    if mask is not None:
        split = (batch, heads) if mask.ndim == 3 else (1, 1)
        mask = tb.reshape(mask, (*split, *mask.shape[-2:]))
    if hidden_keys is None:
        return mask
    hidden_keys = tb.reshape(hidden_keys, (-1, 1, 1, hidden_keys.shape[-1]))
    return hidden_keys if mask is None else hidden_keys + mask


def attend(query, key, value, mask, weights, heads, add_zero_attn, need_weights, average):
    """multi_head_attention of batches [N, T, E]; with the attention weights where they are needed."""
    options = {"heads": heads, "add_zero_attn": add_zero_attn, **weights}
    if not need_weights:
        return [tb.multi_head_attention(query, key, value, mask, **options)]
    return list(tb.multi_head_attention_with_weights(
        query, key, value, mask, per_head=not average, **options))


def attention(m, w, query, key, value, hidden_keys=None, mask=None, need_weights=False, average=True):
    """torch.nn.MultiheadAttention's results."""
    bare = query.ndim == 2
    if bare:
        query, key, value = (tb.reshape(x, (1, *x.shape)) for x in (query, key, value))
    elif not m.batch_first:
        query, key, value = (moved(x, 1, 0) for x in (query, key, value))
    mask = masks(hidden_keys, mask, query.shape[0], m.num_heads)
    weights = {name.replace(".", "_"): each for name, each in w.items()}
    results = attend(query, key, value, mask, weights, m.num_heads, m.add_zero_attn, need_weights,
                     average)
    if bare:
        return [tb.reshape(x, x.shape[1:]) for x in results]
    return [results[0] if m.batch_first else moved(results[0], 0, 1), *results[1:]]


@module("nn.MultiheadAttention", "multi_head_attention multi_head_attention_with_weights",
        times=_TIMES)
def multihead_attention(m, w, query, key, value, key_padding_mask=None, attn_mask=None,
                        need_weights=True, average_attn_weights=True):
    return attention(m, w, query, key, value, key_padding_mask, attn_mask, need_weights,
                     average_attn_weights)


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
    return _blocks(m, w, x, [lambda y: attention(m.self_attn, own, y, y, y, hidden_keys, mask)[0],
                             lambda y: _feed_forward(m, w, y)])


def decoder_layer(m, w, x, memory, mask=None, memory_mask=None, hidden_keys=None, hidden_memory=None):
    own, other = part(w, "self_attn"), part(w, "multihead_attn")
    return _blocks(m, w, x, [
        lambda y: attention(m.self_attn, own, y, y, y, hidden_keys, mask)[0],
        lambda y: attention(m.multihead_attn, other, y, memory, memory, hidden_memory, memory_mask)[0],
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


_DROPOUT = 9  # where dropout_p stands behind the query


def _without_dropout(args, kwargs):
    """Some of PyTorch's samples drop weights, and thimble's generator draws others."""
    return (*args[:_DROPOUT], 0.0, *args[_DROPOUT + 1:]), kwargs


# Some samples have scores of thousands, whose rounding the exponential multiplies.
@op("nn.functional.multi_head_attention_forward",
    "multi_head_attention multi_head_attention_with_weights", times=100, sample=_without_dropout)
def multi_head_attention_forward(
    query, key, value, embed_dim, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v,
    add_zero_attn, dropout_p, out_proj_weight, out_proj_bias, training=True, key_padding_mask=None,
    need_weights=True, attn_mask=None, use_separate_proj_weight=False, q_proj_weight=None,
    k_proj_weight=None, v_proj_weight=None, static_k=None, static_v=None, average_attn_weights=True,
    is_causal=False,
):
    bare = query.ndim == 2
    query, key, value = (
        tb.reshape(x, (1, *x.shape)) if bare else moved(x, 1, 0) for x in (query, key, value))
    rows = {"bias_k": bias_k, "bias_v": bias_v}
    given = {"in_proj_bias": in_proj_bias, "out_proj_weight": out_proj_weight,
             "out_proj_bias": out_proj_bias,
             **{name: tb.reshape(x, (1, 1, -1)) for name, x in rows.items() if x is not None}}
    if use_separate_proj_weight:
        given |= {"q_proj_weight": q_proj_weight, "k_proj_weight": k_proj_weight,
                  "v_proj_weight": v_proj_weight}
    else:
        given["in_proj_weight"] = in_proj_weight
    weights = {name: each for name, each in given.items() if each is not None}
    mask = masks(key_padding_mask, attn_mask, query.shape[0], num_heads)
    results = attend(query, key, value, mask, weights, num_heads, add_zero_attn, need_weights,
                     average_attn_weights)
    if bare:
        return [tb.reshape(x, x.shape[1:]) for x in results]
    return [moved(results[0], 0, 1), *results[1:]]
