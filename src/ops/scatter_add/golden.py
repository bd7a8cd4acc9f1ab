import torch


def case(name, x, index, axis):
    index = torch.tensor(index)

    def run(x, i, source):
        return torch.scatter_add(x, axis, i.long(), source)

    return dict(name=name, attrs=dict(axis=axis), torch=run,
                inputs=[{"shape": x}, {"values": index.tolist(), "dtype": "i32"},
                        {"shape": list(index.shape)}])


CASES = [
    case("last", [2, 4], [[3, 0, 3], [1, 1, 2]], -1),
    case("first", [3, 2], [[0, 2], [2, 2], [1, 0], [0, 0]], 0),
    case("a_part", [3, 3, 4], [[[0, 2]], [[1, 1]]], 1),
]
