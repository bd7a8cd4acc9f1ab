import torch


def case(name, x, weight, bias=0, stride=1, padding=0, output_padding=0, dilation=1, groups=1):
    """x: [N, L, C], weight: [C, size, K / groups]; bias: its size."""

    def run(x, weight, bias=None):
        y = torch.nn.functional.conv_transpose1d(x.movedim(-1, 1), weight.movedim(-1, 1), bias,
                                                 stride, padding, output_padding, groups, dilation)
        return y.movedim(1, -1)

    attrs = dict(stride=stride, padding=[0, 0, padding, padding], output_padding=output_padding,
                 dilation=dilation, groups=groups)
    shapes = [x, weight] + ([[bias]] if bias else [])
    return dict(name=name, attrs=attrs, inputs=[{"shape": shape} for shape in shapes], torch=run)


CASES = [
    case("plain", [2, 4, 3], [3, 3, 2], bias=2),
    case("stride_2", [1, 4, 2], [2, 4, 3], stride=2, padding=1, output_padding=1, bias=3),
    case("dilation", [1, 3, 2], [2, 2, 2], dilation=2),
    case("groups", [1, 3, 4], [4, 2, 1], groups=2, bias=2),
]
