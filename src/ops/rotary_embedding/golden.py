import torch


def case(name, shape, **attrs):
    """The rotation as complex numbers: x a turn of one angle a pair."""

    def run(x):
        width = attrs.get("width", x.shape[-1])
        pairs = width // 2
        rates = attrs.get("base", 1e4) ** (-2.0 * torch.arange(pairs) / width)
        steps = torch.arange(x.shape[1]) + attrs.get("offset", 0)
        turns = torch.polar(torch.ones(1, dtype=torch.double), torch.outer(steps, rates).double())
        turns = turns.reshape(x.shape[1], *[1] * (x.dim() - 3), pairs)
        # The table holds floats.
        turns = torch.complex(turns.real.float().double(), turns.imag.float().double())
        head, tail = x[..., :width], x[..., width:]
        if attrs.get("interleaved"):
            turned = torch.view_as_complex(head.unflatten(-1, (-1, 2)).contiguous()) * turns
            return torch.cat([torch.view_as_real(turned).flatten(-2), tail], -1)
        turned = torch.complex(head[..., :pairs].contiguous(), head[..., pairs:].contiguous()) * turns
        return torch.cat([turned.real, turned.imag, tail], -1)

    return dict(name=name, op="rotary_embedding", attrs=attrs, inputs=[{"shape": shape}], torch=run)


CASES = [
    case("halves", [1, 3, 2, 4]),
    case("interleaved", [2, 3, 4], interleaved=True),
    case("a_part", [1, 2, 2, 5], width=4, base=100.0),
    case("offset", [1, 3, 1, 2], offset=7, interleaved=True),
]
