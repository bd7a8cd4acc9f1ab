import torch


def case(name, x, kernel, stride=(), padding=(0,), divisor=0, **more):
    """x: [N, D, H, W, C]; lists of 1 or 3 numbers."""

    def of_axes(numbers):
        return (numbers * 3)[:3]

    def run(x):
        y = torch.nn.functional.avg_pool3d(x.movedim(-1, 1), of_axes(kernel), of_axes(stride) or None,
                                           of_axes(padding), divisor_override=divisor or None, **more)
        return y.movedim(1, -1)

    attrs = dict(kernel=kernel, stride=stride, padding=padding, divisor=divisor, **more)
    return dict(name=name, attrs=attrs, inputs=[{"shape": x, "low": -4, "high": 4}], torch=run)


CASES = [
    case("halves", [1, 4, 4, 5, 2], (2,)),
    case("overlapping_padded", [1, 5, 4, 3, 1], (3, 2, 2), (2, 1, 1), (1, 1, 0)),
    case("padding_that_does_not_count", [1, 5, 4, 3, 1], (3,), (2,), (1,), count_include_pad=False),
    case("ceil_mode", [1, 5, 4, 4, 1], (3, 2, 2), (2, 3, 2), (1, 0, 1), ceil_mode=True),
    case("divisor", [1, 4, 4, 4, 1], (2,), divisor=3),
]
