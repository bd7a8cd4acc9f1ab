import torch


def case(name, equation, *shapes):
    return dict(name=name, attrs=dict(equation=equation), inputs=[{"shape": s} for s in shapes],
                torch=lambda *x: torch.einsum(equation, *x))


CASES = [
    case("transpose", "ij->ji", [2, 3]),
    case("sum", "ij->i", [2, 3]),
    case("total", "ij->", [2, 3]),
    case("implied", "ba", [2, 3]),
    case("product", "ij,jk", [2, 3], [3, 2]),
    case("linear", "btd,ed->bte", [2, 2, 3], [2, 3]),
    case("many", "bij,bjk->bik", [2, 2, 3], [2, 3, 1]),
    case("attention", "bthd,bshd->bhts", [1, 2, 2, 3], [1, 3, 2, 3]),
    case("turned", "ki,kj->ji", [3, 2], [3, 2]),
    case("outer", "i,j->ij", [2], [3]),
    case("dot", "i,i->", [3], [3]),
    case("rows", "bi,bi->b", [2, 3], [2, 3]),
    case("scaled", "bij,b->bij", [2, 2, 2], [2]),
    case("dots", "...i,ij->...j", [2, 1, 3], [3, 2]),
    case("bilinear", "bi,oij,bj->bo", [2, 2], [2, 2, 3], [2, 3]),
    case("trace", "ii", [3, 3]),
    case("diagonal", "iji->ji", [2, 3, 2]),
    case("one_for_all", "ij,jk->ik", [2, 3], [1, 2]),
    case("unshared", "ij,kl->il", [2, 3], [2, 2]),
]

EXAMPLES = {"einsum": {"x": (32, 32), "weight": {"shape": (32, 8), "batch": False}}}
