import torch


def case(name, x, kernel, stride=0, padding=0, count_include_pad=True,
         ceil_mode=False, divisor=0):
    """x: [N, H, W, C]; stride 0: that of the kernel."""

    def run(x):
        y = torch.nn.functional.avg_pool2d(x.permute(0, 3, 1, 2), kernel, stride or None, padding,
                                           count_include_pad=count_include_pad, ceil_mode=ceil_mode,
                                           divisor_override=divisor or None)
        return y.permute(0, 2, 3, 1)

    sides = torch.tensor(padding).expand(2).tolist()
    attrs = dict(kernel=kernel, stride=stride, padding=[sides[0]] * 2 + [sides[1]] * 2,
                 count_include_pad=count_include_pad, ceil_mode=ceil_mode, divisor=divisor)
    return dict(name=name, attrs=attrs, inputs=[{"shape": x, "low": -1, "high": 1}], torch=run)


CASES = [
    case("halves", [2, 4, 5, 2], 2),
    case("overlapping_padded", [1, 5, 4, 2], 3, stride=2, padding=1),
    case("padding_that_does_not_count", [1, 5, 4, 2], 3, stride=2, padding=1,
         count_include_pad=False),
    case("ceil_mode", [1, 6, 5, 2], 3, stride=2, padding=1, ceil_mode=True),
    case("ceil_mode_of_cells", [1, 6, 5, 2], 3, stride=2, padding=1, count_include_pad=False,
         ceil_mode=True),
    case("divisor", [1, 4, 4, 2], 2, divisor=3),
    case("each_axis", [1, 5, 6, 2], [2, 3], stride=[1, 2], padding=[0, 1]),
]
