import torch


def case(name, x, kernel, stride=0, padding=0, **more):
    """x: [N, L, C]; stride 0: that of the kernel."""

    def run(x):
        y = torch.nn.functional.avg_pool1d(x.movedim(-1, 1), kernel, stride or None, padding, **more)
        return y.movedim(1, -1)

    attrs = dict(kernel=kernel, stride=stride, padding=[0, 0, padding, padding], **more)
    return dict(name=name, attrs=attrs, inputs=[{"shape": x, "low": -4, "high": 4}], torch=run)


CASES = [
    case("halves", [2, 5, 3], kernel=2),
    case("overlapping_padded", [1, 6, 2], kernel=3, stride=2, padding=1),
    case("padding_that_does_not_count", [1, 6, 2], kernel=3, stride=2, padding=1,
         count_include_pad=False),
    case("ceil_mode", [1, 6, 2], kernel=3, stride=2, padding=1, ceil_mode=True),
    case("one_step", [2, 1, 2], kernel=1),
]
