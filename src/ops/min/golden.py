import torch


def case(name, x, axes, keepdims=False):
    return dict(name=name, attrs=dict(axes=axes, keepdims=keepdims), inputs=[x],
                torch=lambda x: torch.amin(x, axes, keepdims))


CASES = [
    case("last", {"shape": [3, 4]}, [-1]),
    case("two_kept", {"shape": [2, 3, 4]}, [0, 2], True),
    case("ties_share", {"values": [[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]]}, [1]),
]
