import torch


def case(name, shape, axes=(), keepdims=False, low=-2, high=2, values=None, **more):
    def run(x):
        return torch.logsumexp(x, axes or tuple(range(x.dim())), keepdims)

    attrs = dict(axes=list(axes), keepdims=keepdims, **more)
    x = {"values": values} if values else {"shape": shape, "low": low, "high": high}
    return dict(name=name, attrs=attrs, inputs=[x], torch=run)


CASES = [case("all", [2, 3]), case("rows", [2, 3], (1,)), case("kept", [2, 2, 3], (0, 2), True),
         case("far_out", None, (1,), values=[[90.0, 100.0], [-200.0, -300.0]]),
         case("of_nothing", [3, 0], (1,)), case("of_nothing_kept", [2, 0, 3], (1, 2), True)]
