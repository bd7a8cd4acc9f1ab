import torch


def case(name, shape, axes=(), keepdims=False, low=-2, high=2, values=None, **more):
    def run(x):
        return torch.linalg.vector_norm(x, more.get("p", 2), axes or None, keepdims)

    attrs = dict(axes=list(axes), keepdims=keepdims, **more)
    x = {"values": values} if values else {"shape": shape, "low": low, "high": high}
    return dict(name=name, attrs=attrs, inputs=[x], torch=run)


CASES = [case("all", [2, 3]), case("rows", [2, 3], (1,)), case("kept", [2, 2, 3], (0, 2), True),
         case("magnitudes", [2, 3], (1,), p=1.0), case("cubes", [2, 3], (1,), p=3.0),
         case("half", [2, 3], (1,), p=0.5), case("count", None, (1,), p=0.0, values=[[0.0, 2.0, 3.0]]),
         case("zeros", None, (1,), values=[[0.0, 0.0], [0.0, 3.0]])]
