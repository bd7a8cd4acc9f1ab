#!/usr/bin/env python3
"""Writes tests/ml_train/goldens.json: what PyTorch computes for the layers of thimble::ml_train.

Usage: python scripts/goldens_ml_train.py   (made with PyTorch 2.13)

Every case is a small network. Both sides begin with the same numbers, which are functions of their
places (ml_train_cases.py), train for five updates on one batch, and compare losses, outputs and weights.
"""
import json
import math
import pathlib

import torch
import torch.nn.functional as F

from ml_train_cases import (BATCH, CASES, PRE, PRE_LAYER, STEPS, after_pre, case, dense, pre, update_adam,
                            update_rmsprop, update_sgd)
from ml_train_rare_cases import rare_settings

OUT = pathlib.Path(__file__).parent.parent / "tests/ml_train/goldens.json"


def basic_layers():
    fc = [("l:weight", (1, 1, 4, 3)), ("l:bias", (1, 1, 1, 3))]
    layer = "fully_connected|name=l|unit=3"
    after_pre("fully_connected", layer, dense, fc, inputs=((2, 3, 4),))
    after_pre("fully_connected_without_bias", layer + "|disable_bias=true",
              lambda p, x: x @ p["l:weight"][0, 0], fc[:1])
    after_pre("decay_of_weight_and_bias", layer + "|weight_decay=0.2|bias_decay=0.1", dense, fc,
              gradient_decay={"l:weight": 0.2, "l:bias": 0.1})
    after_pre("l2norm", layer + "|weight_regularizer=l2norm|weight_regularizer_constant=0.3", dense, fc,
              penalty=lambda p: 0.15 * (p["l:weight"] ** 2).sum())
    after_pre("frozen", layer + "|trainable=false", dense, fc, frozen=("l:weight", "l:bias"))
    after_pre("lora", layer + "|lora_rank=2|lora_alpha=3",
              lambda p, x: dense(p, x) + 1.5 * (x @ p["l:loraA"][0, 0]) @ p["l:loraB"][0, 0],
              fc + [("l:loraA", (1, 1, 4, 2)), ("l:loraB", (1, 1, 2, 3))], frozen=("l:weight", "l:bias"))
    after_pre("shared_from", ["fully_connected|name=l|unit=4", "fully_connected|name=k|unit=4|shared_from=l"],
              lambda p, x: dense(p, dense(p, x)), [("l:weight", (1, 1, 4, 4)), ("l:bias", (1, 1, 1, 4))])
    after_pre("clip_grad_by_norm", layer, dense, fc, clip=0.1, model=["clip_grad_by_norm=0.1"])
    after_pre("clip_grad_by_norm_of_layers", [layer + "|clip_grad_by_norm=0.05", "fully_connected|name=m|unit=3",
                                              "fully_connected|name=k|unit=3|clip_grad_by_norm=0.1"],
              lambda p, x: dense(p, dense(p, dense(p, x), "m"), "k"),
              fc + [("m:weight", (1, 1, 3, 3)), ("m:bias", (1, 1, 1, 3)), ("k:weight", (1, 1, 3, 3)),
                    ("k:bias", (1, 1, 1, 3))],
              clips={"l:weight": 0.05, "l:bias": 0.05, "k:weight": 0.1, "k:bias": 0.1})
    after_pre("distribute", layer + "|distribute=true", dense, fc, inputs=((1, 3, 4),))
    after_pre("distribute_of_conv1d", "conv1d|name=l|filters=1|kernel_size=2|distribute=true",
              lambda p, x: F.conv1d(x.reshape(-1, 1, 4), p["l:filter"][0], p["l:bias"].flatten())
              .reshape(BATCH, 1, 3, 3), [("l:filter", (1, 1, 1, 2)), ("l:bias", (1, 1, 1, 1))],
              inputs=((1, 3, 4),))
    after_pre("flatten", "flatten", lambda p, x: x.reshape(BATCH, 1, 1, -1), inputs=((2, 3, 4),))
    after_pre("flatten_of_two", "flatten|start_dimension=2|end_dimension=3",
              lambda p, x: x.reshape(BATCH, 2, 1, 12), inputs=((2, 3, 4),))
    after_pre("reshape", "reshape|target_shape=3:2:4", lambda p, x: x.reshape(BATCH, 3, 2, 4),
              inputs=((2, 3, 4),))
    after_pre("identity", "identity", lambda p, x: x)
    after_pre("tensor", "tensor|dim=2:3:4|tensor_name=t|input_layers=pre", lambda p, x: x, inputs=((2, 3, 4),))
    case("tensor_of_zeros", [PRE_LAYER + "|input_layers=input0", "tensor|name=t|dim=1:1:4|tensor_name=zeros",
                             "addition|input_layers=pre,t"], PRE,
         lambda p, x, training, moving=None: pre(p, x[0]))
    after_pre("dropout_of_nothing", "dropout|dropout_rate=0", lambda p, x: x)
    after_pre("cast", "cast|tensor_dtype=FP32", lambda p, x: x)
    after_pre("cross_softmax", "activation|activation=softmax", lambda p, x: x, loss="cross")
    after_pre("cross_softmax_of_rows", "activation|activation=softmax", lambda p, x: x, loss="cross",
              inputs=((1, 2, 4),))
    after_pre("kld", "activation|activation=softmax", lambda p, x: x, loss="kld", inputs=((1, 2, 4),))
    after_pre("cross_sigmoid", ["fully_connected|name=l|unit=1", "activation|activation=sigmoid"], dense,
              [("l:weight", (1, 1, 4, 1)), ("l:bias", (1, 1, 1, 1))], loss="cross", label=[1, 1, 1])
    for name, function in {
            "tanh": torch.tanh, "sigmoid": torch.sigmoid, "relu": torch.relu, "swish": F.silu,
            "gelu": F.gelu, "tanh_gelu": lambda x: F.gelu(x, approximate="tanh"),
            "sigmoid_gelu": lambda x: x * torch.sigmoid(1.702 * x), "softmax": lambda x: x.softmax(-1),
            "softplus": F.softplus, "leaky_relu": F.leaky_relu, "elu": F.elu, "selu": F.selu,
            "mish": F.mish}.items():
        after_pre("activation_" + name, "activation|activation=" + name, lambda p, x, f=function: f(x))
    case("embedding", ["embedding|name=l|in_dim=6|out_dim=3"], [("l:Embedding", (1, 1, 6, 3))],
         lambda p, x, training, moving=None: F.embedding(x[0][:, :, 0].long(), p["l:Embedding"][0, 0]),
         inputs=((1, 1, 4),), indexes=6)
    fc4 = [("pre:weight", (1, 1, 4, 4)), ("pre:bias", (1, 1, 1, 4))]
    case("normalization", [PRE_LAYER], fc4, lambda p, x, training, moving=None:
         pre(p, (x[0] - x[0].min()) / (x[0].max() - x[0].min())), inputs=((2, 3, 4),),
         model=["input:normalization=true"])
    case("standardization", [PRE_LAYER], fc4, lambda p, x, training, moving=None: pre(p, (
         x[0] - x[0].mean((1, 2, 3), True)) / x[0].std((1, 2, 3), unbiased=False, keepdim=True)),
         inputs=((2, 3, 4),), model=["input:standardization=true"])


def conv_weights(out, into, h, w):
    return [("l:filter", (out, into, h, w)), ("l:bias", (1, out, 1, 1))]


def convolution(p, x, pad=(0, 0, 0, 0), **more):
    """pad: left, right, top, bottom."""
    return F.conv2d(F.pad(x, pad), p["l:filter"], p["l:bias"].flatten(), **more)


def image_layers():
    image = ((2, 5, 4),)
    conv = "conv2d|name=l|filters=3|kernel_size=3,2"
    w = conv_weights(3, 2, 3, 2)
    after_pre("conv2d", conv, convolution, w, inputs=image)
    after_pre("conv2d_same", conv + "|padding=same|stride=2,1",
              lambda p, x: convolution(p, x, (0, 1, 1, 1), stride=(2, 1)), w, inputs=image)
    after_pre("conv2d_padding", conv + "|padding=2,1,0,1|dilation=2,1",
              lambda p, x: convolution(p, x, (0, 1, 2, 1), dilation=(2, 1)), w, inputs=image)
    line = "conv1d|name=l|filters=3|kernel_size=2"
    w = conv_weights(3, 2, 1, 2)
    after_pre("conv1d", line + "|stride=2", lambda p, x: convolution(p, x, stride=(1, 2)), w, inputs=((2, 1, 4),))
    after_pre("conv1d_causal", line + "|padding=causal|dilation=2",
              lambda p, x: convolution(p, x, (2, 0, 0, 0), dilation=(1, 2)), w, inputs=((2, 1, 4),))
    after_pre("conv1d_padding", line + "|padding=1,2", lambda p, x: convolution(p, x, (1, 2, 0, 0)), w,
              inputs=((2, 1, 4),))
    turned = "conv2dtranspose|name=l|filters=3|kernel_size=4,3"
    w = conv_weights(3, 2, 4, 3)

    def transposed(p, x, cut=(0, 0, 0, 0), **more):
        y = F.conv_transpose2d(x, p["l:filter"].transpose(0, 1), p["l:bias"].flatten(), **more)
        left, right, top, bottom = cut
        return y[:, :, top:y.shape[2] - bottom, left:y.shape[3] - right]

    after_pre("conv2dtranspose", turned, transposed, w, inputs=image)
    after_pre("conv2dtranspose_stride_padding", turned + "|stride=2,2|padding=1",
              lambda p, x: transposed(p, x, (1, 1, 1, 1), stride=2), w, inputs=image)
    after_pre("conv2dtranspose_all", turned + "|stride=2,1|dilation=1,2|padding=1,0,2,1",
              lambda p, x: transposed(p, x, (2, 1, 1, 0), stride=(2, 1), dilation=(1, 2)), w, inputs=image)
    after_pre("pooling2d_max", "pooling2d|pooling=max|pool_size=2,3|stride=2,1",
              lambda p, x: F.max_pool2d(x, (2, 3), (2, 1)), inputs=image)
    after_pre("pooling2d_average", "pooling2d|pooling=average|pool_size=2,2|stride=2,2|padding=1",
              lambda p, x: F.avg_pool2d(x, 2, 2, 1, count_include_pad=False), inputs=image)
    after_pre("pooling2d_default_stride", "pooling2d|pooling=average|pool_size=2,2",
              lambda p, x: F.avg_pool2d(x, 2, 1), inputs=image)
    after_pre("pooling2d_global_max", "pooling2d|pooling=global_max", lambda p, x: x.amax((2, 3), True),
              inputs=image)
    after_pre("pooling2d_global_average", "pooling2d|pooling=global_average",
              lambda p, x: x.mean((2, 3), True), inputs=image)
    after_pre("upsample2d_nearest", "upsample2d|upsample=nearest|kernel_size=2,3",
              lambda p, x: F.interpolate(x, scale_factor=(2, 3)), inputs=image)
    after_pre("upsample2d_bilinear", "upsample2d|upsample=bilinear|kernel_size=2,2",
              lambda p, x: F.interpolate(x, scale_factor=2, mode="bilinear"), inputs=image)
    after_pre("channel_shuffle", "channel_shuffle|split_number=2", lambda p, x: F.channel_shuffle(x, 2),
              inputs=((4, 2, 4),))


def norm_layers():
    def normalized(p, x, training, moving, axes, momentum=0.99, eps=0.001):
        mean, var = x.mean(axes, True), x.var(axes, unbiased=False, keepdim=True)
        if moving is not None:
            for name, now in (("mean", mean), ("variance", var)):
                old = p[f"l:moving_{name}"]
                moving[f"l:moving_{name}"] = momentum * old + (1 - momentum) * now.detach()
        if not training:
            mean, var = p["l:moving_mean"], p["l:moving_variance"]
        return (x - mean) / (var + eps).sqrt() * p["l:gamma"] + p["l:beta"]

    def batch_norm(name, layer, dims, axes, inputs, **more):
        weights = [(f"l:{n}", dims) for n in ("moving_mean", "moving_variance", "gamma", "beta")]
        case(name, [PRE_LAYER, layer], PRE + weights,
             lambda p, x, training, moving=None: normalized(p, pre(p, x[0]), training, moving, axes, **more),
             inputs, frozen=("l:moving_mean", "l:moving_variance"))

    batch_norm("batch_normalization", "batch_normalization|name=l", (1, 2, 1, 1), (0, 2, 3), ((2, 3, 4),))
    batch_norm("batch_normalization_of_rows", "batch_normalization|name=l|momentum=0.9|epsilon=0.01",
               (1, 1, 1, 4), (0, 1, 2), ((1, 1, 4),), momentum=0.9, eps=0.01)
    batch_norm("batch_normalization_of_height", "batch_normalization|name=l|axis=2", (1, 1, 3, 1), (0, 1, 3),
               ((2, 3, 4),))

    def layer_norm(name, axes, dims, eps=0.001):
        after_pre(name, f"layer_normalization|name=l|axis={','.join(map(str, axes))}|epsilon={eps}",
                  lambda p, x: (x - x.mean(axes, True)) / (x.var(axes, unbiased=False, keepdim=True) + eps).sqrt()
                  * p["l:gamma"] + p["l:beta"], [("l:gamma", dims), ("l:beta", dims)], inputs=((2, 3, 4),))

    layer_norm("layer_normalization", (3,), (1, 1, 1, 4))
    layer_norm("layer_normalization_of_all", (1, 2, 3), (1, 2, 3, 4), 0.01)
    layer_norm("layer_normalization_of_channels", (1,), (1, 2, 1, 1))
    after_pre("preprocess_l2norm", "preprocess_l2norm|epsilon=0.01",
              lambda p, x: x / (x.norm(dim=3, keepdim=True) + 0.01))
    after_pre("rmsnorm", "rmsnorm|name=l|epsilon=0.01",
              lambda p, x: x / ((x * x).mean(3, True) + 0.01).sqrt() * p["l:gamma"],
              [("l:gamma", (1, 1, 1, 4))])


def binary_layers():
    """Both inputs are computed from one, by layers of their own."""
    def two(name, layer, function, width=4, inputs=((2, 3, 4),), second="fully_connected|name=b|unit={}"):
        layers = [PRE_LAYER, second.format(width) + "|input_layers=pre", layer + "|input_layers=pre,b"]
        case(name, layers, PRE + [("b:weight", (1, 1, 4, width)), ("b:bias", (1, 1, 1, width))],
             lambda p, x, training, moving=None: (lambda a: function(a, dense(p, a, "b")))(pre(p, x[0])), inputs)

    two("addition", "addition", lambda a, b: a + b)
    two("add", "add", lambda a, b: a + b)
    two("subtract", "subtract", lambda a, b: a - b)
    two("multiply", "multiply", lambda a, b: a * b)
    two("divide", "divide", lambda a, b: a / b)
    two("swiglu", "swiglu", lambda a, b: F.silu(a) * b)
    two("matmul", "matmul", lambda a, b: a @ b, width=2, inputs=((2, 4, 4),))
    two("concat_of_width", "concat|axis=3", lambda a, b: torch.cat([a, b], 3), width=2)
    two("concat_by_default", "concat", lambda a, b: torch.cat([a, b], 3), width=2)
    two("concat_of_channels", "concat", lambda a, b: torch.cat([a, b], 1), inputs=((1, 3, 4),))
    two("concat_of_height", "concat|axis=2", lambda a, b: torch.cat([a, b], 2))

    def attention(a, b, scale=1.0, causal=False):
        scores = a @ b.transpose(2, 3) * scale
        if causal:
            scores = scores.masked_fill(torch.ones(a.shape[2], b.shape[2]).tril() == 0, -math.inf)
        return scores.softmax(-1) @ b

    two("attention", "attention", attention, inputs=((1, 3, 4),))
    two("attention_scaled_causal", "attention|scaled_dot_product=true|causal_mask=true",
        lambda a, b: attention(a, b, 0.5, True), inputs=((1, 3, 4),))


def unary_layers():
    for name, function in {"sin": torch.sin, "cos": torch.cos, "tan": torch.tan,
                           "negative": torch.neg}.items():
        after_pre(name, name, lambda p, x, f=function: f(x))
    after_pre("pow", "pow|exponent=3", lambda p, x: x ** 3)
    after_pre("sqrt", ["activation|activation=sigmoid", "sqrt"], lambda p, x: x.sigmoid().sqrt())
    image = ((2, 3, 4),)
    for axis in (1, 2, 3):
        after_pre(f"reduce_mean_{axis}", f"reduce_mean|axis={axis}", lambda p, x, a=axis: x.mean(a, True),
                  inputs=image)
        after_pre(f"reduce_sum_{axis}", f"reduce_sum|axis={axis}", lambda p, x, a=axis: x.sum(a, True),
                  inputs=image)
    after_pre("slice", "slice|axis=3|start_index=2|end_index=4", lambda p, x: x[..., 1:3], inputs=image)
    after_pre("permute", "permute|direction=3,1,2", lambda p, x: x.permute(0, 3, 1, 2), inputs=image)
    after_pre("transpose", "transpose", lambda p, x: x.transpose(2, 3), inputs=image)
    after_pre("split", ["split|name=s|axis=3|split_number=2", "multiply|input_layers=s(0),s(1)"],
              lambda p, x: x[..., :2] * x[..., 2:], inputs=image)
    after_pre("multiout", ["multiout|name=m", "multiply|input_layers=m(0),m(1)"], lambda p, x: x * x)
    angles = lambda t, w: torch.tensor([[
        (math.sin if j % 2 == 0 else math.cos)(i / 10000 ** (2 * (j // 2) / w)) for j in range(w)]
        for i in range(t)])
    after_pre("positional_encoding", "positional_encoding|max_timestep=5", lambda p, x: x + angles(3, 4),
              inputs=((1, 3, 4),))
    case("weight", ["weight|name=w|weight_name=v|dim=1:1:4|input_shape=1:1:4",
                    "multiply|input_layers=input0,w"], [("w:v", (1, 1, 1, 4))],
         lambda p, x, training, moving=None: x[0] * p["w:v"], ((1, 1, 4),))
    case("gather", [PRE_LAYER + "|input_layers=input0", "gather|axis=3|input_layers=pre,input1"], PRE,
         lambda p, x, training, moving=None: pre(p, x[0]).gather(3, x[1].long()), ((1, 2, 4), (1, 2, 3)),
         scale=1.5, shift=1.6, optimizer="sgd|learning_rate=0.01", settings={"lr": 0.01},
         model=["input_layers=input0,input1"])


def recurrent_layers():
    def step(kind, p, x, h, c, u, act=torch.tanh, rec=torch.sigmoid, reset_after=True, pre="l:"):
        wi, wh = p[pre + "weight_ih"][0, 0], p[pre + "weight_hh"][0, 0]
        zero = torch.zeros(wi.shape[1])
        if pre + "bias_h" in p:
            bi, bh = p[pre + "bias_h"].flatten(), zero
        else:
            bi = p[pre + "bias_ih"].flatten() if pre + "bias_ih" in p else zero
            bh = p[pre + "bias_hh"].flatten() if pre + "bias_hh" in p else zero
        a = x @ wi + bi
        if kind == "rnn":
            return act(a + h @ wh + bh), c
        if kind == "lstm":
            i, f, g, o = (a + h @ wh + bh).split(u, -1)
            c = rec(f) * c + rec(i) * act(g)
            return rec(o) * act(c), c
        z = rec(a[:, :u] + h @ wh[:, :u] + bh[:u])
        r = rec(a[:, u:2 * u] + h @ wh[:, u:2 * u] + bh[u:2 * u])
        if reset_after:
            g = act(a[:, 2 * u:] + r * (h @ wh[:, 2 * u:] + bh[2 * u:]))
        else:
            g = act(a[:, 2 * u:] + (r * h) @ wh[:, 2 * u:])
        return z * h + (1 - z) * g, c

    def scan(kind, p, x, u, backward=False, **more):
        h = c = torch.zeros(BATCH, u)
        out = {}
        for t in (reversed(range(x.shape[2])) if backward else range(x.shape[2])):
            h, c = step(kind, p, x[:, 0, t], h, c, u, **more)
            out[t] = h
        return torch.stack([out[t] for t in range(x.shape[2])], 1)[:, None], h[:, None, None]

    def weights(gates, u, biases=("bias_ih", "bias_hh"), prefix="", features=4):
        return ([(f"l:{prefix}weight_ih", (1, 1, features, gates * u)),
                 (f"l:{prefix}weight_hh", (1, 1, u, gates * u))] +
                [(f"l:{prefix}{b}", (1, 1, 1, gates * u)) for b in biases])

    sequence = dict(inputs=((1, 3, 4),))
    for kind, gates in (("rnn", 1), ("lstm", 4), ("gru", 3)):
        layer = f"{kind}|name=l|unit=3"
        after_pre(kind, layer, lambda p, x, k=kind: scan(k, p, x, 3)[1], weights(gates, 3), **sequence)
        after_pre(kind + "_sequence", layer + "|return_sequences=true|integrate_bias=true",
                  lambda p, x, k=kind: scan(k, p, x, 3)[0], weights(gates, 3, ("bias_h",)), **sequence)
        after_pre(kind + "_sigmoid", layer + "|return_sequences=true|hidden_state_activation=sigmoid|disable_bias=true",
                  lambda p, x, k=kind: scan(k, p, x, 3, act=torch.sigmoid)[0], weights(gates, 3, ()), **sequence)
    after_pre("gru_reset_before", "gru|name=l|unit=3|reset_after=false|return_sequences=true",
              lambda p, x: scan("gru", p, x, 3, reset_after=False)[0], weights(3, 3), **sequence)

    def both(p, x):
        y, h = scan("lstm", p, x, 3)
        ry, rh = scan("lstm", p, x, 3, True, pre="l:reverse_")
        return torch.cat([y, ry], -1)

    after_pre("lstm_bidirectional", "lstm|name=l|unit=3|bidirectional=true|return_sequences=true", both,
              weights(4, 3) + weights(4, 3, prefix="reverse_"), **sequence)
    for kind, gates in (("rnn", 1), ("gru", 3)):
        after_pre(kind + "cell", f"{kind}cell|name=l|unit=4|input_layers=pre,pre",
                  lambda p, x, k=kind: step(k, p, x[:, 0, 0], x[:, 0, 0], None, 4)[0][:, None, None],
                  weights(gates, 4))

    def lstm_sum(p, x):
        h, c = step("lstm", p, x[:, 0, 0], x[:, 0, 0], x[:, 0, 0], 4)
        return (h + c)[:, None, None]

    for kind in ("lstmcell", "zoneout_lstmcell"):
        after_pre(kind, [f"{kind}|name=l|unit=4|input_layers=pre,pre,pre", "addition|input_layers=l(0),l(1)"],
                  lstm_sum, weights(4, 4))


def attention_layers():
    def rotated(x, base=100.0):
        half = x.shape[-1] // 2
        angle = torch.arange(x.shape[2]).outer(base ** (-torch.arange(half) / half))
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)

    def heads(p, q, k, v, count, width, mask=None, causal=False, rotary=False):
        def by_heads(x, name):
            y = x @ p[f"l:{name}_fc_weight"][0, 0] + p[f"l:{name}_fc_bias"]
            return y[:, 0].reshape(BATCH, x.shape[2], count, -1).transpose(1, 2)
        q, k, v = by_heads(q, "query"), by_heads(k, "key"), by_heads(v, "value")
        if rotary:
            q, k = rotated(q), rotated(k)
        scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
        if causal:
            scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -math.inf)
        w = (scores if mask is None else scores + mask).softmax(-1)
        y = (w @ v).transpose(1, 2).reshape(BATCH, 1, q.shape[2], -1)
        return y @ p["l:fc_weight"][0, 0] + p["l:fc_bias"], w

    def weights(count, key, value, out):
        return [(f"l:{n}_fc_{kind}", (1, 1, 4 if kind == "weight" else 1, count * d))
                for n, d in (("query", key), ("key", key), ("value", value)) for kind in ("weight", "bias")] + \
            [("l:fc_weight", (1, 1, count * value, out)), ("l:fc_bias", (1, 1, 1, out))]

    layer = "multi_head_attention|name=l|num_heads=2|input_layers=pre,pre,pre"
    after_pre("multi_head_attention", layer, lambda p, x: heads(p, x, x, x, 2, 4)[0], weights(2, 2, 2, 4),
              inputs=((1, 3, 4),))
    after_pre("multi_head_attention_sizes",
              layer + "|projected_key_dim=3|projected_value_dim=1|output_shape=5",
              lambda p, x: heads(p, x, x, x, 2, 4)[0], weights(2, 3, 1, 5), inputs=((1, 3, 4),))
    case("multi_head_attention_mask",
         [PRE_LAYER + "|input_layers=input0", layer.replace("pre,pre,pre", "pre,pre,pre,input1")],
         PRE + weights(2, 2, 2, 4), lambda p, x, training, moving=None:
         (lambda y: heads(p, y, y, y, 2, 4, x[1])[0])(pre(p, x[0])), ((1, 3, 4), (2, 3, 3)), scale=2.0,
         model=["input_layers=input0,input1"])
    after_pre("multi_head_attention_weights",
              [layer + "|return_attention_weight=before", "concat|axis=3|input_layers=l(0),l(1)"],
              lambda p, x: (lambda y, w: torch.cat([y, w.mean(1, True)], 3))(*heads(p, x, x, x, 2, 4)),
              weights(2, 2, 2, 4), inputs=((1, 3, 4),))
    after_pre("multi_head_attention_causal_rotary",
              layer + "|causal_mask=true|rotary_base=100|projected_key_dim=4",
              lambda p, x: heads(p, x, x, x, 2, 4, causal=True, rotary=True)[0], weights(2, 4, 4, 4),
              inputs=((1, 5, 4),))
    after_pre("multi_head_attention_causal_weights",
              [layer + "|return_attention_weight=before|causal_mask=true", "concat|axis=3|input_layers=l(0),l(1)"],
              lambda p, x: (lambda y, w: torch.cat([y, w.mean(1, True)], 3))(*heads(p, x, x, x, 2, 4, causal=True)),
              weights(2, 2, 2, 4), inputs=((1, 3, 4),))

    def mol(p, query, value, state, length=None, k=2):
        kappa, beta, alpha = (torch.tanh(dense_of(p, query)) @ p["l:fc_proj_w"][0, 0]).split(k, -1)
        means = state + kappa.exp()
        t = torch.arange(1, value.shape[2] + 1).reshape(1, 1, -1, 1)
        upper, lower = (((t + s - means) / (beta.exp() + 1e-8)).sigmoid() for s in (0.5, -0.5))
        scores = ((upper - lower) * alpha.softmax(-1)).sum(-1, True)
        if length is not None:
            scores = scores * (t <= length.floor())
        return scores.transpose(2, 3) @ value, means

    def dense_of(p, x):
        return x @ p["l:fc_w"][0, 0] + p["l:fc_bias"]

    layer = "mol_attention|name=l|unit=3|mol_k=2|input_layers=pre,"
    weights = PRE + [("l:fc_w", (1, 1, 4, 3)), ("l:fc_bias", (1, 1, 1, 3)), ("l:fc_proj_w", (1, 1, 3, 6))]
    case("mol_attention", [PRE_LAYER + "|input_layers=input0", layer + "input1,input2",
                           "concat|axis=3|input_layers=l(0),l(1)"], weights,
         lambda p, x, training, moving=None: torch.cat(mol(p, pre(p, x[0]), x[1], x[2]), 3),
         ((1, 1, 4), (1, 5, 4), (1, 1, 2)), model=["input_layers=input0,input1,input2"])
    case("mol_attention_mask", [PRE_LAYER + "|input_layers=input0", layer + "input1,input2,input3"], weights,
         lambda p, x, training, moving=None: mol(p, pre(p, x[0]), *x[1:])[0],
         ((1, 1, 4), (1, 5, 3), (1, 1, 2), (1, 1, 1)), scale=2.0, shift=2.5,
         optimizer="sgd|learning_rate=0.01", settings={"lr": 0.01},
         model=["input_layers=input0,input1,input2,input3"])


def optimizers():
    fc = [("l:weight", (1, 1, 4, 3)), ("l:bias", (1, 1, 1, 3))]
    layer = "fully_connected|name=l|unit=3"

    def run(name, optimizer, update, settings, **more):
        after_pre(name, layer, dense, fc, optimizer=optimizer, update=update, settings=settings, **more)

    run("adam", "adam|learning_rate=0.05|epsilon=0.01", update_adam, dict(lr=0.05, eps=0.01, torch_ref=False))
    run("adam_torch_ref", "adam|learning_rate=0.05|epsilon=0.01|torch_ref=true", update_adam,
        dict(lr=0.05, eps=0.01, torch_ref=True))
    run("adamw", "adamw|learning_rate=0.05|weight_decay=0.3|epsilon=0.01", update_adam,
        dict(lr=0.05, eps=0.01, torch_ref=False, decay=0.3))
    run("adamw_torch_ref", "adamw|learning_rate=0.05|weight_decay=0.3|epsilon=0.01|torch_ref=true", update_adam,
        dict(lr=0.05, eps=0.01, torch_ref=True, decay=0.3))
    run("rmsprop", "rmsprop|learning_rate=0.05|epsilon=0.01", update_rmsprop,
        dict(lr=0.05, rho=0.9, eps=0.01, torch_ref=False))
    run("rmsprop_torch_ref", "rmsprop|learning_rate=0.05|alpha=0.8|epsilon=0.01|torch_ref=true", update_rmsprop,
        dict(lr=0.05, rho=0.8, eps=0.01, torch_ref=True))
    run("sgd_decay", "sgd|learning_rate=0.2|decay_rate=0.5|decay_steps=2", update_sgd, dict(lr=0.2),
        rates=[0.2 * 0.5 ** (i / 2) for i in range(STEPS)])
    run("cosine", "sgd;cosine|MaxLearningRate=0.3|MinLearningRate=0.1|DecaySteps=3", update_sgd, dict(lr=0.2),
        rates=[0.1 + 0.2 * (1 + math.cos(math.pi * (i % 3) / 3)) / 2 for i in range(STEPS)])
    run("linear", "sgd;linear|max_learning_rate=0.3|min_learning_rate=0.1|decay_steps=3", update_sgd, dict(lr=0.2),
        rates=[max(0.1, 0.3 - 0.2 * i / 3) for i in range(STEPS)])
    run("step", "sgd;step|learning_rate=0.3,0.2,0.1|iteration=1,2", update_sgd, dict(lr=0.2),
        rates=[0.3, 0.3, 0.2, 0.1, 0.1])
    run("exponential", "sgd;exponential|learning_rate=0.3|decay_rate=0.9|decay_steps=2", update_sgd, dict(lr=0.2),
        rates=[0.3 * 0.9 ** (i / 2) for i in range(STEPS)])
    run("constant", "sgd;constant|learning_rate=0.3", update_sgd, dict(lr=0.3))


basic_layers()
image_layers()
norm_layers()
binary_layers()
unary_layers()
recurrent_layers()
attention_layers()
optimizers()
rare_settings()
OUT.parent.mkdir(exist_ok=True)
OUT.write_text("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in CASES) + "\n]\n")
print(len(CASES), "cases,", OUT.stat().st_size, "bytes")
