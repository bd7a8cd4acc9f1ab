from torch.nn import functional as F


def ours(padding=(0, 0), **rest):
    """The options as thimble has them."""
    return dict(padding=[padding[0], padding[0], padding[1], padding[1]], **rest)


def unfold(name, x, kernel, **rest):
    """x: [N, H, W, C]; PyTorch's rows are [C, kh, kw], ours [kh, kw, C]."""

    def run(x):
        rows = F.unfold(x.movedim(-1, 1), kernel, **rest)
        n, _, places = rows.shape
        return rows.reshape(n, x.shape[-1], -1, places).permute(0, 3, 2, 1).flatten(2)

    return dict(name=name, attrs=dict(kernel=kernel, **ours(**rest)), inputs=[{"shape": x}], torch=run)


def fold(name, x, size, kernel, **rest):
    def run(x):
        n, places, width = x.shape
        cells = kernel[0] * kernel[1]
        rows = x.reshape(n, places, cells, width // cells).permute(0, 3, 2, 1).flatten(1, 2)
        return F.fold(rows, size, kernel, **rest).movedim(1, -1)

    return dict(name=name, op="fold", attrs=dict(size=size, kernel=kernel, **ours(**rest)),
                inputs=[{"shape": x}], torch=run)


CASES = [
    unfold("patches", [1, 4, 4, 2], (2, 2), stride=(2, 2)),
    unfold("all_options", [1, 5, 4, 2], (3, 2), stride=(2, 1), padding=(1, 1), dilation=(1, 2)),
    fold("patches", [1, 4, 8], (4, 4), (2, 2), stride=(2, 2)),
    fold("all_options", [1, 12, 12], (5, 4), (3, 2), stride=(2, 1), padding=(1, 1),
         dilation=(1, 2)),
]
