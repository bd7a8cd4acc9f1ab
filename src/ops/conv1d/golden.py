import torch


def case(name, x, weight, bias=False, stride=1, padding=(0, 0), dilation=1, groups=1):
    """x: [N, L, C], weight: [K, size, C / groups]; padding: left, right."""

    def run(x, weight, bias=None):
        padded = torch.nn.functional.pad(x.movedim(-1, 1), padding)
        y = torch.nn.functional.conv1d(padded, weight.movedim(-1, 1), bias, stride, 0, dilation,
                                       groups)
        return y.movedim(1, -1)

    attrs = dict(stride=stride, padding=[0, 0, *padding], dilation=dilation, groups=groups)
    shapes = [x, weight] + ([weight[:1]] if bias else [])
    return dict(name=name, attrs=attrs, inputs=[{"shape": shape} for shape in shapes], torch=run)


CASES = [
    case("plain", [2, 5, 3], [4, 3, 3], bias=True),
    case("strided_padded", [1, 7, 2], [2, 3, 2], stride=2, padding=(1, 1), bias=True),
    case("causal", [1, 6, 2], [2, 2, 2], padding=(2, 0), dilation=2),
    case("groups", [1, 4, 4], [4, 2, 2], groups=2, bias=True),
    case("depthwise", [2, 4, 3], [3, 3, 1], groups=3, padding=(1, 1)),
    case("one_step", [2, 1, 2], [3, 1, 2]),
]
