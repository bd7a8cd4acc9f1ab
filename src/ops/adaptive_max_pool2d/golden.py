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


def volume_case(name, x, size, indices=False):
    """size: one number in a list, or three."""
    def run(x):
        y, index = torch.nn.functional.adaptive_max_pool3d(x.movedim(-1, 1), (size * 3)[:3], True)
        y, index = y.movedim(1, -1), index.movedim(1, -1).int()
        return (y, index) if indices else y

    op = "adaptive_max_pool3d" + ("_with_indices" if indices else "")
    return dict(name=name, op=op, attrs=dict(size=size),
                inputs=[{"shape": x, "low": -4, "high": 4}], torch=run)


CASES = [
    case("uneven", [1, 5, 7, 2], [3, 2]),
    case("larger", [1, 2, 3, 1], [4, 5]),
    sequence_case("sequence", [2, 7, 2], 3),
    sequence_case("even_sequence", [1, 6, 2], 3),
    volume_case("volumes", [2, 5, 4, 3, 2], [3, 2, 2]),
    volume_case("even_volumes", [1, 4, 6, 2, 2], [2]),
    volume_case("larger_volumes", [1, 2, 3, 2, 1], [3, 4, 2]),
    volume_case("places_in_volumes", [2, 5, 4, 3, 2], [3, 2, 2], True),
    volume_case("places_in_even_volumes", [1, 4, 6, 2, 2], [2, 3, 1], True),
]
