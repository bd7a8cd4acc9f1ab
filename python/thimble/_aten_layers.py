"""ATen operators that are layers: products, convolutions, norms, pooling, attention, recurrent layers."""

from __future__ import annotations

import math

from ._aten import OWN, Call, UnsupportedError, aten


@aten("linear")
def _linear(c: Call) -> str:
    weight = c.w("Transpose", c.tensor("weight"), perm=[1, 0])
    if c.rank("weight") != 2:
        raise UnsupportedError("expected a weight of two dimensions")
    y = c.w("MatMul", c.tensor("input"), weight)
    return c.w("Add", y, c.tensor("bias")) if c.has("bias") else y


@aten("matmul", "bmm", "mm", "dot", "mv")
def _matmul(c: Call) -> str:
    first, second = list(c.arguments)[:2]
    return c.w("MatMul", c.tensor(first), c.tensor(second))


@aten("addmm", "baddbmm")
def _addmm(c: Call) -> str:
    names = ("mat1", "mat2") if c.has("mat1") else ("batch1", "batch2")
    y, added = c.w("MatMul", *(c.tensor(name) for name in names)), c.tensor("self")
    if c.number("alpha", 1) != 1:
        y = c.w("Mul", y, c.w.constant(c.number("alpha")))
    if c.number("beta", 1) != 1:
        added = c.w("Mul", added, c.w.constant(c.number("beta")))
    return c.w("Add", y, added)


@aten("einsum")
def _einsum(c: Call) -> str:
    return c.w("Einsum", *(c.value(x) for x in c.arguments["tensors"]), equation=c.number("equation"))


@aten("convolution")
def _convolution(c: Call) -> str:
    axes = c.rank("input") - 2
    pads = c.pair("padding", axes)
    inputs = [c.tensor("input"), c.tensor("weight")]
    if c.has("bias"):
        inputs.append(c.tensor("bias"))
    settings = {
        "strides": c.pair("stride", axes), "dilations": c.pair("dilation", axes), "pads": [*pads, *pads],
        "group": c.number("groups"),
    }
    if not c.number("transposed"):
        return c.w("Conv", *inputs, **settings)
    return c.w("ConvTranspose", *inputs, output_padding=c.pair("output_padding", axes), **settings)


@aten("batch_norm", "_native_batch_norm_legit_functional", "_native_batch_norm_legit",
      "_native_batch_norm_legit_no_training", "native_batch_norm")
def _batch_norm(c: Call) -> tuple[str, ...]:
    has_statistics = c.has("running_mean")
    trains = c.number("training", c.number("train", False))
    if not has_statistics and not trains:
        raise UnsupportedError("expected running statistics")
    inputs = [c.tensor("input"), c.optional("weight"), c.optional("bias")]
    if has_statistics:
        inputs += [c.tensor("running_mean"), c.tensor("running_var")]
    y = c.w("BatchNormalization", *inputs, epsilon=float(c.number("eps")),
            momentum=1.0 - float(c.number("momentum", 0.1)), frozen=int(not trains))
    # Behind the result and two numbers that nothing reads: the moved statistics, which the graph keeps.
    return (y, "", "", *inputs[3:])


@aten("layer_norm", "native_layer_norm")
def _layer_norm(c: Call) -> tuple[str, ...]:
    inputs = [c.tensor("input"), c.optional("weight"), c.optional("bias")]
    axis = -len(c.number("normalized_shape"))
    return (c.w("LayerNormalization", *inputs, axis=axis, epsilon=float(c.number("eps"))),)


@aten("rms_norm")
def _rms_norm(c: Call) -> str:
    inputs = [c.tensor("input")]
    axis, shape = -len(c.number("normalized_shape")), c.number("normalized_shape")
    inputs.append(c.tensor("weight") if c.has("weight") else c.w.constant([1.0]))
    if not c.has("weight"):
        inputs[1] = c.w("Expand", inputs[1], c.w.integers(shape))
    epsilon = float(c.number("eps", 1.1920928955078125e-07))
    return c.w("RMSNormalization", *inputs, axis=axis, epsilon=epsilon)


@aten("group_norm", "native_group_norm")
def _group_norm(c: Call) -> tuple[str, ...]:
    inputs = [c.tensor("input"), c.optional("weight"), c.optional("bias")]
    groups = c.number("num_groups", c.number("group"))
    return (c.w("GroupNormalization", *inputs, num_groups=groups, epsilon=float(c.number("eps", 1e-5))),)


@aten("instance_norm")
def _instance_norm(c: Call) -> str:
    if c.has("running_mean"):
        raise UnsupportedError("thimble imports instance norms without running statistics")
    inputs = [c.tensor("input"), c.optional("weight"), c.optional("bias")]
    return c.w("InstanceNormalization", *inputs, epsilon=float(c.number("eps")))


@aten("dropout", "native_dropout")
def _dropout(c: Call) -> tuple[str, ...]:
    if not c.number("train", True):
        return (c.tensor("input"),)
    ratio = c.w.constant(c.number("p"))
    return (c.w("Dropout", c.tensor("input"), ratio, c.w.constant(True, "bool")),)


@aten("max_pool1d", "max_pool2d", "max_pool3d", "max_pool2d_with_indices", "max_pool3d_with_indices",
      "max_pool1d_with_indices")
def _max_pool(c: Call) -> tuple[str, ...]:
    axes = c.rank("self") - 2
    kernel, pads = c.pair("kernel_size", axes), c.pair("padding", axes)
    y = c.w("MaxPool", c.tensor("self"), kernel_shape=kernel,
            strides=c.pair("stride", axes) if c.number("stride") else kernel, pads=[*pads, *pads],
            dilations=c.pair("dilation", axes), ceil_mode=int(c.number("ceil_mode")))
    return (y,)


@aten("avg_pool1d", "avg_pool2d", "avg_pool3d")
def _average_pool(c: Call) -> str:
    if c.has("divisor_override"):
        raise UnsupportedError("thimble imports average pooling without a divisor of its own")
    axes = c.rank("self") - 2
    kernel, pads = c.pair("kernel_size", axes), c.pair("padding", axes)
    return c.w("AveragePool", c.tensor("self"), kernel_shape=kernel,
               strides=c.pair("stride", axes) if c.number("stride") else kernel, pads=[*pads, *pads],
               ceil_mode=int(c.number("ceil_mode")), count_include_pad=int(c.number("count_include_pad")))


@aten("adaptive_avg_pool1d", "adaptive_avg_pool2d", "_adaptive_avg_pool2d", "adaptive_avg_pool3d",
      "_adaptive_avg_pool3d")
def _adaptive_average_pool(c: Call) -> str:
    return c.w("AdaptiveAveragePool", c.tensor("self"), domain=OWN, sizes=c.result_shape[2:])


@aten("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "_upsample_nearest_exact2d",
      "upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d")
def _upsample(c: Call) -> str:
    name = c.node.target._schema.name
    source, image = ("input", "input") if "input" in c.arguments else ("self", "self")
    settings = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    if "exact" in name:
        settings |= {"coordinate_transformation_mode": "half_pixel", "nearest_mode": "round_prefer_ceil"}
    elif "nearest" not in name:
        places = "align_corners" if c.number("align_corners") else "half_pixel"
        settings = {"mode": "cubic" if "bicubic" in name else "linear",
                    "coordinate_transformation_mode": places}
    sizes = c.w.integers([*c.shape(image)[:2], *c.result_shape[2:]])
    return c.w("Resize", c.tensor(source), "", "", sizes, **settings)


@aten("scaled_dot_product_attention")
def _attention(c: Call) -> str:
    inputs = [c.tensor(name) for name in ("query", "key", "value")]
    rank = c.rank("query")
    if rank == 3:  # one head
        inputs = [c.w("Unsqueeze", x, c.w.integers([1])) for x in inputs]
    elif rank != 4:
        raise UnsupportedError("expected [N, heads, T, D] or [N, T, D]")
    if c.has("attn_mask"):
        mask = c.tensor("attn_mask")
        if rank == 3 and c.rank("attn_mask") == 3:
            mask = c.w("Unsqueeze", mask, c.w.integers([1]))
        inputs.append(mask)
    scale = c.number("scale")
    if scale is None:
        scale = 1.0 / math.sqrt(c.shape("query")[-1])
    y = c.w("Attention", *inputs, is_causal=int(c.number("is_causal")), scale=float(scale),
            dropout=float(c.number("dropout_p")))
    return c.w("Squeeze", y, c.w.integers([1])) if rank == 3 else y


@aten("lstm", "gru", "rnn_tanh", "rnn_relu")
def _recurrent(c: Call) -> tuple[str, ...]:
    kind = c.node.target._schema.name.removeprefix("aten::")
    given = c.arguments["hx"]
    given = given if isinstance(given, (list, tuple)) else [given]
    states = ["" if "zeros" in str(x.target) else c.value(x) for x in given]
    if "" in states:
        states = [""] * len(states) if len(set(states)) == 1 else [c.value(x) for x in given]
    weights = [c.value(x) for x in c.arguments["params"]]
    both, layers = bool(c.number("bidirectional")), int(c.number("num_layers"))
    each = len(weights) // (layers * (2 if both else 1))
    bias = bool(c.number("has_biases"))
    made = tuple(c.w.fresh() for _ in range(3 if kind == "lstm" else 2))
    dropout = float(c.number("dropout")) if c.number("train") and layers > 1 else 0.0
    c.w("Recurrent", c.tensor("input"), states[0], states[1] if kind == "lstm" else "", *weights, domain=OWN,
        outputs=made, kind=kind, bias=int(bias), projection=each - (4 if bias else 2), bidirectional=int(both),
        batch_first=int(bool(c.number("batch_first"))), dropout=dropout)
    return made


@aten("nll_loss_forward", "nll_loss", "cross_entropy_loss", "nll_loss_nd", "nll_loss2d_forward")
def _class_loss(c: Call) -> tuple[str, ...]:
    if c.has("weight") or c.number("label_smoothing", 0.0):
        raise UnsupportedError("thimble imports it without weights of classes and label smoothing")
    reduction = ("none", "mean", "sum")[int(c.number("reduction", 1))]
    is_whole = c.node.target._schema.name == "aten::cross_entropy_loss"
    op = "SoftmaxCrossEntropyLoss" if is_whole else "NegativeLogLikelihoodLoss"
    ignored = int(c.number("ignore_index", -100))
    return (c.w(op, c.tensor("self"), c.tensor("target"), reduction=reduction, ignore_index=ignored),)
