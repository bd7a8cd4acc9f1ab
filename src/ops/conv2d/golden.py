import torch


def nchw(t):
    return t.permute(0, 3, 1, 2)


def nhwc(t):
    return t.permute(0, 2, 3, 1)


def case(name, x, weight, bias=False, stride=1, padding=0, dilation=1, groups=1, activation="none"):
    """x: [N, H, W, C], weight: [K, kh, kw, C / groups]; padding: one number, "same", or top, bottom,
    left, right."""
    sides = [padding] * 4 if isinstance(padding, int) else padding

    def run(x, weight, bias=None):
        if padding == "same":
            y = torch.nn.functional.conv2d(nchw(x), nchw(weight), bias, stride, "same", dilation,
                                           groups)
        else:
            top, bottom, left, right = sides
            padded = torch.nn.functional.pad(nchw(x), (left, right, top, bottom))
            y = torch.nn.functional.conv2d(padded, nchw(weight), bias, stride, 0, dilation, groups)
        return nhwc(torch.relu(y) if activation == "relu" else y)

    attrs = dict(stride=stride, padding=sides, dilation=dilation, groups=groups,
                 activation=activation)
    shapes = [x, weight] + ([weight[:1]] if bias else [])
    inputs = [{"shape": shape, "low": -1, "high": 1} for shape in shapes]
    return dict(name=name, attrs=attrs, inputs=inputs, torch=run)


CASES = [
    case("plain", [1, 3, 4, 2], [2, 3, 2, 2], bias=True),
    case("stride_2_padding_1", [2, 3, 4, 1], [2, 3, 3, 1], stride=2, padding=1),
    case("stride_of_each_axis", [1, 5, 3, 1], [2, 2, 2, 1], stride=[3, 1]),
    case("padding_of_each_side", [1, 3, 2, 1], [1, 3, 3, 1], padding=[2, 1, 0, 2]),
    case("same_of_an_even_window", [1, 3, 4, 1], [1, 2, 4, 1], padding="same"),
    case("same_dilated", [1, 4, 5, 1], [1, 3, 2, 1], padding="same", dilation=[1, 2]),
    case("dilation", [1, 5, 6, 1], [1, 3, 2, 1], dilation=[2, 4], bias=True),
    case("groups", [1, 2, 3, 4], [4, 2, 2, 2], groups=2, bias=True),
    case("depthwise", [1, 3, 4, 2], [2, 3, 3, 1], groups=2, padding=1, stride=2),
    case("relu", [1, 3, 3, 2], [2, 2, 2, 2], bias=True, activation="relu"),
]
