import torch


def case(name, x, weight, bias=False, stride=(1,), padding=(0,), dilation=(1,), groups=1):
    """x: [N, D, H, W, C], weight: [K, kd, kh, kw, C / groups]; padding: 1, 3 or 6 numbers."""
    front, back, top, bottom, left, right = (
        padding if len(padding) == 6 else [p for p in (padding * 3)[:3] for _ in range(2)])

    def run(x, weight, bias=None):
        padded = torch.nn.functional.pad(x.movedim(-1, 1), (left, right, top, bottom, front, back))
        y = torch.nn.functional.conv3d(padded, weight.movedim(-1, 1), bias, (stride * 3)[:3], 0,
                                       (dilation * 3)[:3], groups)
        return y.movedim(1, -1)

    attrs = dict(stride=stride, padding=padding, dilation=dilation, groups=groups)
    shapes = [x, weight] + ([weight[:1]] if bias else [])
    return dict(name=name, attrs=attrs, inputs=[{"shape": shape} for shape in shapes], torch=run)


CASES = [
    case("plain", [1, 3, 3, 4, 2], [2, 2, 3, 2, 2], bias=True),
    case("stride_and_padding", [2, 4, 3, 3, 1], [2, 3, 3, 3, 1], stride=(2,), padding=(1,)),
    case("of_each_axis", [1, 5, 4, 3, 1], [1, 2, 2, 2, 1], stride=(3, 1, 2), padding=(1, 0, 2),
         dilation=(2, 1, 1)),
    case("padding_of_each_side", [1, 2, 2, 2, 1], [1, 2, 2, 2, 1], padding=(1, 0, 0, 1, 2, 0)),
    case("groups", [1, 3, 2, 3, 4], [4, 2, 2, 2, 2], groups=2, bias=True),
    case("one_plane", [1, 3, 3, 3, 2], [2, 1, 2, 2, 2], bias=True),
]
