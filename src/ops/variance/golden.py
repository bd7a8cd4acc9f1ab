import torch


def case(name, shape, axes=(), keepdims=False, low=-2, high=2, values=None, **more):
    def run(x):
        return torch.var(x, axes or None, keepdim=keepdims, **more)

    attrs = dict(axes=list(axes), keepdims=keepdims, **more)
    x = {"values": values} if values else {"shape": shape, "low": low, "high": high}
    return dict(name=name, attrs=attrs, inputs=[x], torch=run)


CASES = [case("all", [2, 3]), case("rows", [2, 3], (1,)), case("all_there_is", [3, 2, 2], (0, 2), True, correction=0.0)]
CASES += [dict(case("deviation", [2, 3], (1,)), op="standard_deviation", torch=lambda x: torch.std(x, 1)),
          dict(case("no_deviation", None, (1,), values=[[2.0, 2.0], [1.0, 3.0]]), op="standard_deviation",
               torch=lambda x: torch.std(x, 1))]
