import torch


def case(name, x, index, axis):
    index = torch.tensor(index)
    return dict(name=name, attrs=dict(axis=axis),
                torch=lambda x, i, source: torch.scatter(x, axis, i.long(), source),
                inputs=[{"shape": x}, {"values": index.tolist(), "dtype": "i32"},
                        {"shape": list(index.shape)}])


CASES = [
    case("last", [2, 4], [[3, 0, 2], [1, 3, 2]], -1),
    case("first", [3, 2], [[0, 2], [2, 1]], 0),
    case("a_part", [3, 3, 4], [[[0, 2]], [[1, 1]]], 1),
    dict(name="number", attrs=dict(axis=1, value=2.5),
         inputs=[{"shape": [2, 4]}, {"values": [[3, 0], [1, 1]], "dtype": "i32"}, None],
         torch=lambda x, i, source: torch.scatter(x, 1, i.long(), 2.5)),
]
