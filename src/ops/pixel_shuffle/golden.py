import torch


def case(name, op, x, factor):
    function = getattr(torch.nn.functional, op)
    return dict(name=name, op=op, attrs=dict(factor=factor), inputs=[{"shape": x}],
                torch=lambda x: function(x.movedim(-1, 1), factor).movedim(1, -1))


CASES = [
    case("twice", "pixel_shuffle", [1, 2, 3, 8], 2),
    case("thrice", "pixel_shuffle", [2, 1, 2, 9], 3),
    case("half", "pixel_unshuffle", [1, 4, 6, 2], 2),
    case("third", "pixel_unshuffle", [2, 3, 6, 1], 3),
]
