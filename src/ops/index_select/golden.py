import torch


def case(name, x, index, axis):
    return dict(name=name, attrs=dict(axis=axis), inputs=[x, {"values": index, "dtype": "i32"}],
                torch=lambda x, i: torch.index_select(x, axis, i.long()))


CASES = [
    case("rows", {"shape": [4, 3]}, [2, 0, 2], 0),
    case("columns", {"shape": [2, 4, 2]}, [3, 1], -2),
    case("integers", {"values": [5, 6, 7], "dtype": "i32"}, [2, 2, 0, 1], 0),
]

EXAMPLES = {
    "index_select": {"table": {"shape": (9, 8), "batch": False},
                     "index": {"shape": (), "dtype": "i32"}},
}
