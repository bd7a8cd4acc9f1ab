import torch


def case(name, large, small):
    return dict(name=name, attrs={"shape": small}, inputs=[{"shape": large}],
                torch=lambda x: torch.Tensor.sum_to_size(x, small))


CASES = [case("bias", [4, 3], [3]), case("column", [2, 3], [2, 1]), case("middle", [2, 3, 2], [3, 1]),
         case("scalar", [2, 3], [])]

EXAMPLES = {"sum_to": {"x": {"shape": (3, 4), "batch": False}}}
