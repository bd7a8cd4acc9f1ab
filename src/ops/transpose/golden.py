import torch


def case(name, shape, axes):
    return dict(name=name, attrs=dict(axes=axes), inputs=[{"shape": shape}],
                torch=lambda x: torch.permute(x, axes))


CASES = [case("to_channels_first", [1, 2, 2, 3], [0, 3, 1, 2]), case("rotated", [2, 3, 2], [2, 0, 1])]

EXAMPLES = {"transpose": {"images": (28, 28, 3)}}
