import torch


def case(name, shape, axes=(), keepdims=False):
    dims = list(axes) or list(range(len(shape)))
    return dict(name=name, attrs=dict(axes=list(axes), keepdims=keepdims), inputs=[{"shape": shape}],
                torch=lambda x: torch.sum(x, dims, keepdims))


CASES = [
    case("all", [2, 3, 4]),
    case("last", [2, 3, 4], [-1]),
    case("two_kept", [2, 3, 4], [0, 2], True),
    case("of_nothing", [2, 0], [1]),
]

EXAMPLES = {"sum": {"x": (28, 28, 16)}}
