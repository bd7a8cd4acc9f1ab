import torch


def case(name, shape, axes=(), keepdims=False, low=-2, high=2, values=None, **more):
    def run(x):
        return torch.prod(x, axes[0], keepdims) if axes else torch.prod(x)

    attrs = dict(axes=list(axes), keepdims=keepdims, **more)
    x = {"values": values} if values else {"shape": shape, "low": low, "high": high}
    return dict(name=name, attrs=attrs, inputs=[x], torch=run)


CASES = [case("all", [2, 3]), case("rows", [2, 3], (1,)), case("kept", [2, 2, 3], (1,), True),
         case("zeros", None, (1,), values=[[0.0, 2.0, 3.0], [0.0, 0.0, 3.0], [1.0, 2.0, 3.0]])]
