import torch


def case(name, x, size):
    def run(x):
        y, index = torch.nn.functional.adaptive_max_pool2d(x.movedim(-1, 1), size, True)
        return y.movedim(1, -1), index.movedim(1, -1).int()

    return dict(name=name, attrs=dict(size=size), inputs=[{"shape": x, "low": -4, "high": 4}],
                torch=run)


def sequence_case(name, x, size):
    def run(x):
        return torch.nn.functional.adaptive_max_pool1d(x.movedim(-1, 1), size).movedim(1, -1)

    return dict(name=name, op="adaptive_max_pool1d", attrs=dict(size=size), inputs=[{"shape": x}],
                torch=run)


CASES = [
    case("uneven", [1, 5, 7, 2], [3, 2]),
    case("larger", [1, 2, 3, 1], [4, 5]),
    sequence_case("sequence", [2, 7, 2], 3),
    sequence_case("even_sequence", [1, 6, 2], 3),
]
