import torch

A = {"values": [[5.5, -5.5, 7.25], [-0.5, 3.0, 0.0]]}
B = {"values": [2.0, -1.5, 0.75]}
INTEGERS = {"values": [[7, -7, 9], [0, -12, 5]], "dtype": "i32"}
OTHERS = {"values": [3, 5, -4], "dtype": "i32"}


def case(op, kind, a, b):
    return dict(name=kind, op=op, attrs={}, inputs=[a, b], torch=getattr(torch, op))


INF = float("inf")
FAR = {"values": [-1.0, 1.0, 2.5, -2.5, 0.5]}
INFINITE = {"values": [INF, -INF, INF, -INF, 1.0]}

CASES = [case(op, *rest) for op in ["remainder", "fmod"]
         for rest in [("numbers", A, B), ("integers", INTEGERS, OTHERS), ("infinite", FAR, INFINITE)]]
CASES += [dict(name=kind, op="floor_divide", attrs={}, inputs=[a, b],
               torch=lambda a, b: torch.floor_divide(a.detach(), b.detach()))
          for kind, a, b in [("numbers", A, B), ("integers", INTEGERS, OTHERS),
                             ("infinite", FAR, INFINITE)]]
