import torch


def both(name, x, axis=-1, descending=False):
    def run(x):
        values, indices = torch.sort(x, dim=axis, descending=descending, stable=True)
        return values, indices.int()

    return dict(name=name, attrs=dict(axis=axis, descending=descending), inputs=[x], torch=run)


def places(name, x, axis=-1, descending=False):
    return dict(name=name, op="argsort", attrs=dict(axis=axis, descending=descending), inputs=[x],
                torch=lambda x: torch.argsort(x, dim=axis, descending=descending, stable=True).int())


TIES = {"values": [2.0, 1.0, 2.0, 1.0, 3.0, 2.0]}
CASES = [make(*rest) for make in [both, places] for rest in [
    ("last", {"shape": [2, 5]}),
    ("first_descending", {"shape": [5, 2]}, 0, True),
    ("ties", TIES),
    ("ties_descending", TIES, 0, True),
]]
