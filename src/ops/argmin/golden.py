import torch


def case(name, shape, axis, keepdims=False):
    return dict(name=name, attrs=dict(axis=axis, keepdims=keepdims), inputs=[{"shape": shape}],
                torch=lambda x: torch.argmin(x, axis, keepdims))


CASES = [dict(name="all", attrs=dict(flat=True), inputs=[{"shape": [2, 3]}],
              torch=torch.argmin),
         dict(name="all_kept", attrs=dict(flat=True, keepdims=True), inputs=[{"shape": [2, 3]}],
              torch=lambda x: torch.argmin(x, None, True).reshape(1, 1)),
         case("last", [3, 4], -1), case("middle", [2, 3, 2], 1), case("first_kept", [4, 2], 0, True)]
