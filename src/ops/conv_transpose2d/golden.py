import torch


def nchw(t):
    return t.permute(0, 3, 1, 2)


def nhwc(t):
    return t.permute(0, 2, 3, 1)


def case(name, x, weight, bias=False, stride=1, padding=0, output_padding=0, dilation=1, groups=1,
         activation="none"):
    """x: [N, H, W, C], weight: [C, kh, kw, K / groups]; padding: [height, width] or one number."""

    def run(x, weight, bias=None):
        y = torch.nn.functional.conv_transpose2d(nchw(x), nchw(weight), bias, stride, padding,
                                                 output_padding, groups, dilation)
        return nhwc(torch.relu(y) if activation == "relu" else y)

    h, w = padding if isinstance(padding, list) else (padding, padding)
    attrs = dict(stride=stride, padding=[h, h, w, w], output_padding=output_padding,
                 dilation=dilation, groups=groups, activation=activation)
    shapes = [x, weight] + ([[weight[3] * groups]] if bias else [])
    inputs = [{"shape": shape, "low": -1, "high": 1} for shape in shapes]
    return dict(name=name, attrs=attrs, inputs=inputs, torch=run)


CASES = [
    case("plain", [1, 2, 2, 2], [2, 3, 2, 2], bias=True),
    case("stride_2_doubles", [1, 2, 2, 2], [2, 4, 4, 1], stride=2, padding=1),
    case("output_padding", [1, 2, 3, 1], [1, 2, 3, 1], stride=[2, 3], padding=1,
         output_padding=[1, 2], bias=True),
    case("stride_larger_than_kernel", [1, 2, 2, 1], [1, 2, 2, 1], stride=3),
    case("padding_of_each_axis", [1, 3, 3, 1], [1, 3, 4, 2], padding=[1, 2]),
    case("dilation", [1, 2, 2, 1], [1, 3, 2, 1], dilation=[2, 3], bias=True),
    case("groups", [1, 2, 1, 4], [4, 2, 2, 1], groups=2, stride=2, bias=True),
    case("depthwise", [1, 2, 2, 2], [2, 3, 3, 1], groups=2, padding=1, stride=2),
    case("relu", [1, 2, 2, 2], [2, 2, 2, 2], bias=True, activation="relu"),
]
