import torch


def case(name, shape, axis, reverse=False):
    def run(x):
        return x.flip(axis).cumsum(axis).flip(axis) if reverse else x.cumsum(axis)

    return dict(name=name, attrs=dict(axis=axis, reverse=reverse), inputs=[{"shape": shape}],
                torch=run)


CASES = [case("last", [3, 4], -1), case("middle", [2, 3, 2], 1), case("reverse", [5, 2], 0, True)]
