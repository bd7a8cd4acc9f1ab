import torch


def case(op, name, x, axis):
    def run(x):
        values, indices = getattr(torch, op)(x, axis)
        return values, indices.int()

    return dict(name=name, op=op, attrs=dict(axis=axis), inputs=[x], torch=run)


CASES = [case(op, *rest) for op in ["cummax", "cummin"] for rest in [
    ("last", {"shape": [2, 6]}, -1),
    ("first", {"shape": [5, 2]}, 0),
    ("ties", {"values": [1.0, 3.0, 3.0, 2.0, 1.0, 0.5, 0.5]}, 0),
]]
