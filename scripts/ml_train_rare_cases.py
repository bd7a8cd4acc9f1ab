"""Settings of thimble::ml_train's layers that are seldom used, and their combinations; see goldens_ml_train.py."""
import math

import torch
import torch.nn.functional as F

from ml_train_cases import BATCH, PRE, PRE_LAYER, after_pre, case, dense, pre

IMAGE = ((2, 3, 4),)


def filters(out, into, h, w):
    return [("l:filter", (out, into, h, w)), ("l:bias", (1, out, 1, 1))]


def convolution(p, x, pad=(0, 0, 0, 0), **more):
    """pad: left, right, top, bottom."""
    return F.conv2d(F.pad(x, pad), p["l:filter"], p["l:bias"].flatten(), **more)


def convolutions():
    image = ((2, 5, 4),)
    after_pre("conv2d_same_dilated", "conv2d|name=l|filters=3|kernel_size=3,2|padding=same|stride=2,3|dilation=2,1",
              lambda p, x: convolution(p, x, (0, 1, 2, 2), stride=(2, 3), dilation=(2, 1)), filters(3, 2, 3, 2),
              inputs=image)
    after_pre("conv2d_decays", "conv2d|name=l|filters=3|kernel_size=3,2|padding=1,0|weight_decay=0.2|bias_decay=0.1"
              "|weight_regularizer=l2norm|weight_regularizer_constant=0.3",
              lambda p, x: convolution(p, x, (0, 0, 1, 1)), filters(3, 2, 3, 2), inputs=image,
              gradient_decay={"l:filter": 0.2, "l:bias": 0.1},
              penalty=lambda p: 0.15 * (p["l:filter"] ** 2).sum())
    after_pre("conv2d_activation_flatten", "conv2d|name=l|filters=3|kernel_size=3,2|activation=tanh|flatten=true",
              lambda p, x: convolution(p, x).tanh().reshape(BATCH, 1, 1, -1), filters(3, 2, 3, 2), inputs=image)
    shared = "conv2d|name={}|filters=2|kernel_size=3,3|padding=same"
    after_pre("conv2d_shared", [shared.format("l"), shared.format("k") + "|shared_from=l"],
              lambda p, x: convolution(p, convolution(p, x, (1, 1, 1, 1)), (1, 1, 1, 1)), filters(2, 2, 3, 3),
              inputs=image)
    after_pre("conv1d_same", "conv1d|name=l|filters=3|kernel_size=3|padding=same|stride=2|dilation=2",
              lambda p, x: convolution(p, x, (1, 2, 0, 0), stride=(1, 2), dilation=(1, 2)), filters(3, 2, 1, 3),
              inputs=((2, 1, 4),))

    def transposed(p, x, cut, **more):
        bias = p["l:bias"].flatten() if "l:bias" in p else None
        y = F.conv_transpose2d(x, p["l:filter"].transpose(0, 1), bias, **more)
        left, right, top, bottom = cut
        return y[:, :, top:y.shape[2] - bottom, left:y.shape[3] - right]

    after_pre("conv2dtranspose_same", "conv2dtranspose|name=l|filters=3|kernel_size=4,3|stride=2,1|padding=same",
              lambda p, x: transposed(p, x, (1, 1, 1, 2), stride=(2, 1)), filters(3, 2, 4, 3), inputs=image)
    after_pre("conv2dtranspose_without_bias",
              "conv2dtranspose|name=l|filters=3|kernel_size=2,3|stride=3,2|dilation=2,1|padding=1|disable_bias=true",
              lambda p, x: transposed(p, x, (1, 1, 1, 1), stride=(3, 2), dilation=(2, 1)),
              filters(3, 2, 2, 3)[:1], inputs=image)


def pools():
    image = ((2, 5, 4),)
    after_pre("pooling2d_max_same", "pooling2d|pooling=max|pool_size=2,3|stride=2,2|padding=same",
              lambda p, x: F.max_pool2d(F.pad(x, (0, 1, 0, 1), value=-math.inf), (2, 3), 2), inputs=image)
    ones = lambda x: F.avg_pool2d(F.pad(torch.ones_like(x), (0, 1, 0, 1)), (2, 3), 2)
    after_pre("pooling2d_average_same", "pooling2d|pooling=average|pool_size=2,3|stride=2,2|padding=same",
              lambda p, x: F.avg_pool2d(F.pad(x, (0, 1, 0, 1)), (2, 3), 2) / ones(x), inputs=image)
    after_pre("upsample2d_bilinear_of_3_by_2", "upsample2d|upsample=bilinear|kernel_size=3,2",
              lambda p, x: F.interpolate(x, scale_factor=(3, 2), mode="bilinear"), inputs=image)
    after_pre("channel_shuffle_of_three", "channel_shuffle|split_number=3", lambda p, x: F.channel_shuffle(x, 3),
              inputs=((6, 2, 4),))


def norms():
    weights = [(f"l:{n}", (1, 1, 1, 4)) for n in ("moving_mean", "moving_variance", "gamma", "beta")]

    def of_width(p, x, training, moving):
        mean, var = x.mean((0, 1, 2), True), x.var((0, 1, 2), unbiased=False, keepdim=True)
        if moving is not None:
            for name, now in (("mean", mean), ("variance", var)):
                moving[f"l:moving_{name}"] = 0.99 * p[f"l:moving_{name}"] + 0.01 * now.detach()
        if not training:
            mean, var = p["l:moving_mean"], p["l:moving_variance"]
        return ((x - mean) / (var + 0.001).sqrt() * p["l:gamma"] + p["l:beta"]).relu()

    case("batch_normalization_of_width_decays",
         [PRE_LAYER, "batch_normalization|name=l|axis=3|weight_decay=0.2|bias_decay=0.1|activation=relu"],
         PRE + weights, lambda p, x, training, moving=None: of_width(p, pre(p, x[0]), training, moving), IMAGE,
         frozen=("l:moving_mean", "l:moving_variance"), gradient_decay={"l:gamma": 0.2, "l:beta": 0.1})
    case("batch_normalization_frozen", [PRE_LAYER, "batch_normalization|name=l|axis=3|trainable=false|activation=relu"],
         PRE + weights, lambda p, x, training, moving=None: of_width(p, pre(p, x[0]), training, moving), IMAGE,
         frozen=[n for n, _ in weights])
    after_pre("layer_normalization_of_height_decays",
              "layer_normalization|name=l|axis=2|weight_decay=0.2|bias_decay=0.1",
              lambda p, x: (x - x.mean(2, True)) / (x.var(2, unbiased=False, keepdim=True) + 0.001).sqrt()
              * p["l:gamma"] + p["l:beta"], [("l:gamma", (1, 1, 3, 1)), ("l:beta", (1, 1, 3, 1))], inputs=IMAGE,
              gradient_decay={"l:gamma": 0.2, "l:beta": 0.1})


def moves():
    b = [("b:weight", (1, 1, 4, 4)), ("b:bias", (1, 1, 1, 4))]
    after_pre("concat_of_three", ["fully_connected|name=b|unit=4|input_layers=pre", "concat|axis=1|input_layers=b,pre,b"],
              lambda p, x: (lambda y: torch.cat([y, x, y], 1))(dense(p, x, "b")), b, inputs=IMAGE)
    after_pre("addition_of_three", ["fully_connected|name=b|unit=4|input_layers=pre", "addition|input_layers=b,pre,b"],
              lambda p, x: 2 * dense(p, x, "b") + x, b, inputs=IMAGE)
    after_pre("split_by_default", ["split|name=s|axis=2", "multiply|name=m|input_layers=s(2),s(0)",
                                   "subtract|input_layers=m,s(1)"],
              lambda p, x: x[:, :, 2:] * x[:, :, :1] - x[:, :, 1:2], inputs=IMAGE)
    after_pre("slice_of_channels", "slice|axis=1|start_index=2|end_index=3", lambda p, x: x[:, 1:2], inputs=IMAGE)
    after_pre("slice_of_height", "slice|axis=2|start_index=1|end_index=3", lambda p, x: x[:, :, :2], inputs=IMAGE)
    after_pre("permute_around", "permute|direction=2,3,1", lambda p, x: x.permute(0, 2, 3, 1), inputs=IMAGE)
    after_pre("permute_two", "permute|direction=2,1,3", lambda p, x: x.permute(0, 2, 1, 3), inputs=IMAGE)
    after_pre("flatten_of_first_two", "flatten|start_dimension=1|end_dimension=2",
              lambda p, x: x.reshape(BATCH, 1, 6, 4), inputs=IMAGE)
    after_pre("reshape_to_a_row", "reshape|target_shape=-1", lambda p, x: x.reshape(BATCH, 1, 1, 24), inputs=IMAGE)
    after_pre("pow_of_minus_one", ["activation|activation=sigmoid", "pow|exponent=-1"],
              lambda p, x: 1 / x.sigmoid(), inputs=IMAGE)
    for axis, dims in ((1, (3, 2, 4)), (2, (2, 5, 4))):
        case(f"gather_{axis}", [PRE_LAYER + "|input_layers=input0", f"gather|axis={axis}|input_layers=pre,input1"], PRE,
             lambda p, x, training, moving=None, a=axis: pre(p, x[0]).gather(a, x[1].long()),
             ((2, 2, 4), dims), scale=0.5, shift=0.9, model=["input_layers=input0,input1"])
    case("embedding_shared", ["embedding|name=l|in_dim=6|out_dim=3|input_layers=input0",
                              "embedding|name=k|in_dim=6|out_dim=3|shared_from=l|input_layers=input0",
                              "multiply|input_layers=l,k"], [("l:Embedding", (1, 1, 6, 3))],
         lambda p, x, training, moving=None: F.embedding(x[0][:, :, 0].long(), p["l:Embedding"][0, 0]) ** 2,
         inputs=((1, 1, 4),), indexes=6)
    after_pre("lora_without_alpha", "fully_connected|name=l|unit=3|lora_rank=2",
              lambda p, x: dense(p, x) + (x @ p["l:loraA"][0, 0]) @ p["l:loraB"][0, 0],
              [("l:weight", (1, 1, 4, 3)), ("l:bias", (1, 1, 1, 3)), ("l:loraA", (1, 1, 4, 2)),
               ("l:loraB", (1, 1, 2, 3))], frozen=("l:weight", "l:bias"), inputs=IMAGE)


def recurrent():
    def weights(gates, biases=("bias_ih", "bias_hh"), prefix=""):
        return ([(f"l:{prefix}weight_ih", (1, 1, 4, gates * 4)), (f"l:{prefix}weight_hh", (1, 1, 4, gates * 4))] +
                [(f"l:{prefix}{b}", (1, 1, 1, gates * 4)) for b in biases])

    def sums(p, prefix):
        """x W + b and the bias of h, apart."""
        at = f"l:{prefix}"
        none = torch.zeros(p[at + "weight_ih"].shape[3])
        one = p[at + "bias_h"].flatten() if at + "bias_h" in p else none
        return (p.get(at + "bias_ih", none).flatten() + one, p.get(at + "bias_hh", none).flatten(),
                p[at + "weight_ih"][0, 0], p[at + "weight_hh"][0, 0])

    def lstm(p, x, prefix="", backward=False, rec=torch.sigmoid, h=None, c=None):
        bi, bh, wi, wh = sums(p, prefix)
        h = torch.zeros(BATCH, 4) if h is None else h
        c = torch.zeros(BATCH, 4) if c is None else c
        for t in (reversed(range(x.shape[2])) if backward else range(x.shape[2])):
            i, f, g, o = (x[:, 0, t] @ wi + h @ wh + bi + bh).split(4, -1)
            c = rec(f) * c + rec(i) * torch.tanh(g)
            h = rec(o) * torch.tanh(c)
        return h[:, None, None], c[:, None, None]

    def gru(p, x, reset_after, rec=torch.sigmoid):
        bi, bh, wi, wh = sums(p, "")
        h = torch.zeros(BATCH, 4)
        for t in range(x.shape[2]):
            a, b = x[:, 0, t] @ wi + bi, h @ wh
            z, r = rec(a[:, :4] + b[:, :4] + bh[:4]), rec(a[:, 4:8] + b[:, 4:8] + bh[4:8])
            inner = r * (b[:, 8:] + bh[8:]) if reset_after else (r * h) @ wh[:, 8:]
            h = z * h + (1 - z) * torch.tanh(a[:, 8:] + inner)
        return h[:, None, None]

    sequence = dict(inputs=((1, 3, 4),))
    after_pre("lstm_recurrent_tanh", "lstm|name=l|unit=4|recurrent_activation=tanh",
              lambda p, x: lstm(p, x, rec=torch.tanh)[0], weights(4), **sequence)
    both = weights(4, ("bias_h",)) + weights(4, ("bias_h",), "reverse_")
    after_pre("lstm_bidirectional_last", "lstm|name=l|unit=4|bidirectional=true|integrate_bias=true",
              lambda p, x: torch.cat([lstm(p, x)[0], lstm(p, x, "reverse_", True)[0]], 3), both, **sequence)
    after_pre("gru_reset_before_one_bias", "gru|name=l|unit=4|reset_after=false|integrate_bias=true",
              lambda p, x: gru(p, x, False), weights(3, ("bias_h",)), **sequence)
    after_pre("gru_recurrent_tanh", "gru|name=l|unit=4|recurrent_activation=tanh",
              lambda p, x: gru(p, x, True, torch.tanh), weights(3), **sequence)
    after_pre("lstm_decays", "lstm|name=l|unit=4|weight_decay=0.2|bias_decay=0.1", lambda p, x: lstm(p, x)[0],
              weights(4), gradient_decay={"l:weight_ih": 0.2, "l:weight_hh": 0.2, "l:bias_ih": 0.1, "l:bias_hh": 0.1},
              **sequence)
    after_pre("lstm_shared", ["lstm|name=l|unit=4|input_layers=pre", "lstm|name=k|unit=4|shared_from=l|input_layers=l",
                              "addition|input_layers=l,k"],
              lambda p, x: (lambda h: h + lstm(p, h)[0])(lstm(p, x)[0]), weights(4), **sequence)
    after_pre("lstmcell_one_bias", ["lstmcell|name=l|unit=4|integrate_bias=true|input_layers=pre,pre,pre",
                                    "multiply|input_layers=l(0),l(1)"],
              lambda p, x: math.prod(lstm(p, x, h=x[:, 0, 0], c=x[:, 0, 0])), weights(4, ("bias_h",)))
    after_pre("rnncell_without_bias", "rnncell|name=l|unit=4|disable_bias=true|hidden_state_activation=relu"
              "|input_layers=pre,pre",
              lambda p, x: (x @ p["l:weight_ih"][0, 0] + x @ p["l:weight_hh"][0, 0]).relu(), weights(1, ()))


def attentions():
    b = [("b:weight", (1, 1, 4, 4)), ("b:bias", (1, 1, 1, 4))]

    def apart(p, x):
        key = dense(p, x, "b")
        return (x @ key.transpose(2, 3)).softmax(-1) @ x

    after_pre("attention_of_keys", ["fully_connected|name=b|unit=4|input_layers=pre",
                                    "attention|input_layers=pre,pre,b"], apart, b, inputs=((1, 3, 4),))
    weights = [(f"l:{n}_fc_{kind}", (1, 1, 4 if kind == "weight" else 1, 4))
               for n in ("query", "key", "value") for kind in ("weight", "bias")] + \
        [("l:fc_weight", (1, 1, 4, 4)), ("l:fc_bias", (1, 1, 1, 4))]

    def weights_of_heads(p, x):
        q, k = ((x @ p[f"l:{n}_fc_weight"][0, 0] + p[f"l:{n}_fc_bias"])[:, 0].reshape(BATCH, 3, 2, 2).transpose(1, 2)
                for n in ("query", "key"))
        return (q @ k.transpose(2, 3) / math.sqrt(2)).softmax(-1)

    after_pre("multi_head_attention_weights_of_heads",
              ["multi_head_attention|name=l|num_heads=2|return_attention_weight=after|average_attention_weight=false"
               "|input_layers=pre,pre,pre", "reshape|name=r|target_shape=6:1:2|input_layers=l(0)",
               "reshape|name=w|target_shape=6:1:3|input_layers=l(1)", "concat|axis=3|input_layers=r,w"],
              lambda p, x: torch.cat([heads_of(p, x, weights_of_heads(p, x)).reshape(BATCH, 6, 1, 2),
                                      weights_of_heads(p, x).reshape(BATCH, 6, 1, 3)], 3),
              weights, inputs=((1, 3, 4),))


def heads_of(p, x, attention):
    v = (x @ p["l:value_fc_weight"][0, 0] + p["l:value_fc_bias"])[:, 0].reshape(BATCH, 3, 2, 2).transpose(1, 2)
    y = (attention @ v).transpose(1, 2).reshape(BATCH, 1, 3, 4)
    return y @ p["l:fc_weight"][0, 0] + p["l:fc_bias"]


def rare_settings():
    convolutions()
    pools()
    norms()
    moves()
    recurrent()
    attentions()
