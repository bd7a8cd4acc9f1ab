import torch


def case(name, shapes, low=-1, high=1, **attrs):
    options = {k: "batchmean" if v == "batch_mean" else v for k, v in attrs.items()}
    inputs = [s if isinstance(s, dict) else {"shape": s, "low": low, "high": high} for s in shapes]
    return dict(name=name, attrs=attrs, inputs=inputs, torch=lambda *x: loss(*x, **options))


def loss(x, t, w=None, **options):
    return torch.nn.functional.multi_margin_loss(x, t.long(), weight=w, **options)


T = {"values": [2, 0, 1], "dtype": "i32"}
W = {"values": [0.5, 1.0, 2.0, 0.25]}
CASES = [case("mean", [[3, 4], T]), case("squares", [[3, 4], T], p=2.0, margin=0.5, reduction="sum"),
         case("none", [[3, 4], T], reduction="none")]
CASES[2]["torch"] = lambda x, t: loss(x, t, reduction="none")
CASES[1]["torch"] = lambda x, t: loss(x, t, p=2, margin=0.5, reduction="sum")
CASES.append(dict(name="weighted", attrs={}, inputs=[{"shape": [3, 4]}, T, W],
                  torch=lambda x, t, w: loss(x, t, w.detach())))

EXAMPLES = {"multi_margin": {"label": {"shape": (), "dtype": "i32"}}}
