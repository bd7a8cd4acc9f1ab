import torch

OP = "gru_scan"


def case(name, n, t, units, reverse=False, bias=True, state=False):
    """torch.nn.GRU with unit weights for x: our x is multiplied already."""

    def run(x, w, b=None, h0=None):
        zeros = torch.zeros(3 * units, dtype=x.dtype)
        first = torch.zeros(1, n, units, dtype=x.dtype) if h0 is None else h0[None]
        eye = torch.eye(3 * units, dtype=x.dtype)
        weights = [eye, w, zeros, zeros if b is None else b]
        sequence = x.flip(1) if reverse else x
        h = torch._VF.gru(sequence, first, weights, True, 1, 0.0, False, False, True)[0]
        h = h.flip(1) if reverse else h
        before = torch.cat([h[:, 1:], first[0][:, None]], 1) if reverse else torch.cat(
            [first[0][:, None], h[:, :-1]], 1)
        u = before @ w.T + weights[3]
        xs, us = x.chunk(3, 2), u.chunk(3, 2)
        r, z = (xs[0] + us[0]).sigmoid(), (xs[1] + us[1]).sigmoid()
        gates = torch.cat([r, z, (xs[2] + r * us[2]).tanh()], 2)
        return h, gates.detach(), us[2].detach()

    shapes = [[n, t, 3 * units], [3 * units, units], [3 * units] if bias else None,
              [n, units] if state else None]
    while shapes[-1] is None:
        shapes.pop()
    return dict(name=name, op=OP, attrs=dict(reverse=reverse), torch=run,
                inputs=[s and {"shape": s, "low": -1, "high": 1} for s in shapes])


CASES = [case("plain", 2, 3, 2, bias=False), case("bias", 1, 3, 2, state=True),
         case("reverse", 2, 2, 1, reverse=True, state=True)]
