import torch


def case(name, small, large):
    return dict(name=name, attrs=dict(shape=large), inputs=[{"shape": small}],
                torch=lambda x: torch.broadcast_to(x, large))


CASES = [case("rows", [3], [2, 3]), case("inside", [2, 1, 3], [2, 2, 2, 3]), case("scalar", [], [2, 2])]

EXAMPLES = {"broadcast_to": {"x": {"shape": (28, 1), "batch": False}}}
