import torch


def with_indices(name, x, **rest):
    """The same, and the places of the largest; theirs count [D, H, W] as ours."""
    made = case(name, x, **rest)

    def run(x):
        y, index = torch.nn.functional.max_pool3d(x.movedim(-1, 1), rest["kernel"] * 3,
                                                  return_indices=True)
        return y.movedim(1, -1), index.movedim(1, -1).int()

    return made | dict(op="max_pool3d_with_indices", torch=run)


def case(name, x, kernel, stride=(), padding=(0,), dilation=(1,), ceil_mode=False):
    """x: [N, D, H, W, C]; lists of 1 or 3 numbers."""

    def of_axes(numbers):
        return (numbers * 3)[:3]

    def run(x):
        y = torch.nn.functional.max_pool3d(x.movedim(-1, 1), of_axes(kernel), of_axes(stride) or None,
                                           of_axes(padding), of_axes(dilation), ceil_mode)
        return y.movedim(1, -1)

    return dict(name=name, inputs=[{"shape": x, "low": -4, "high": 4}], torch=run,
                attrs=dict(kernel=kernel, stride=stride, padding=padding, dilation=dilation,
                           ceil_mode=ceil_mode))


CASES = [
    case("halves", [1, 4, 4, 5, 2], (2,)),
    case("overlapping_padded", [1, 5, 4, 3, 1], (3, 2, 2), (2, 1, 1), (1, 1, 0)),
    case("dilated", [1, 5, 4, 5, 1], (2,), (1,), (0,), (3, 1, 2)),
    case("ceil_mode", [1, 5, 3, 4, 1], (2,), (2,), (0,), (1,), True),
    case("ties", [2, 2, 2, 2, 1], (2,)) | dict(inputs=[{"values": [[[[[1.0]] * 2] * 2] * 2] * 2}]),
    with_indices("places", [2, 4, 6, 4, 3], kernel=(2,)),
]
