import torch


def case(name, a, b, axis=-1, epsilon=1e-8):
    return dict(name=name, attrs=dict(axis=axis, epsilon=epsilon), inputs=[{"shape": a}, {"shape": b}],
                torch=lambda x, y: torch.nn.functional.cosine_similarity(x, y, axis, epsilon))


CASES = [case("rows", [3, 4], [3, 4]), case("columns", [3, 4], [3, 4], 0), case("broadcast", [2, 1, 3], [1, 2, 3]),
         case("other_axis", [1, 5, 3], [2, 5, 1], -2), case("other_rank", [2, 3], [2, 1, 3])]
