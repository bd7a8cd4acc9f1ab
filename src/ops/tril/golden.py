import torch


def case(op, name, x, diagonal):
    return dict(name=name, op=op, attrs=dict(diagonal=diagonal), inputs=[x],
                torch=lambda x: getattr(torch, op)(x, diagonal))


CASES = [case(op, *rest) for op in ["tril", "triu"] for rest in [
    ("square", {"shape": [3, 3]}, 0),
    ("wide_above", {"shape": [2, 2, 4]}, 1),
    ("tall_below", {"shape": [4, 2]}, -2),
    ("integers", {"values": [[1, 2, 3], [4, 5, 6]], "dtype": "i32"}, 0),
]]
