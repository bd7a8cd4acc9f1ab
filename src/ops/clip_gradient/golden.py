import torch


def clipped(clip, *limits):
    """A gradient clipped by PyTorch's function, which has no gradient itself."""

    def run(grad, *_):
        parameter = torch.nn.Parameter(torch.zeros_like(grad))
        parameter.grad = grad.detach().clone()
        clip([parameter], *limits)
        return parameter.grad

    return run


GRAD = {"values": [[3.0, -4.0], [0.25, 12.0]]}  # of norm 13.002...
SQUARES = {"values": 169.0625}
CASES = [
    dict(name="squares", op="sum_squares", attrs={}, inputs=[GRAD],
         torch=lambda x: (x.detach() ** 2).sum()),
    dict(name="long", op="clip_by_norm", attrs=dict(max_norm=2.5), inputs=[GRAD, SQUARES],
         torch=clipped(torch.nn.utils.clip_grad_norm_, 2.5)),
    dict(name="short", op="clip_by_norm", attrs=dict(max_norm=20.0), inputs=[GRAD, SQUARES],
         torch=clipped(torch.nn.utils.clip_grad_norm_, 20.0)),
    dict(name="value", op="clip_by_value", attrs=dict(limit=3.5), inputs=[GRAD],
         torch=clipped(torch.nn.utils.clip_grad_value_, 3.5)),
]

EXAMPLES = {"clip_by_norm": {"grad": {"shape": (9, 8), "batch": False}}}
