import torch

OP = "lstm_scan"


def case(name, n, t, units, reverse=False, states=False):
    """torch.nn.LSTM with unit weights for x: our x is multiplied already."""

    def run(x, w, h0=None, c0=None):
        zeros = torch.zeros(1, n, units, dtype=x.dtype)
        first = (zeros, zeros) if h0 is None else (h0[None], c0[None])
        eye = torch.eye(4 * units, dtype=x.dtype)
        order = range(t - 1, -1, -1) if reverse else range(t)
        hidden, state = [None] * t, first
        cells, gates = [None] * t, [None] * t
        for step in order:
            sums = x[:, step] + state[0][0] @ w.T
            i, f, g, o = sums.chunk(4, 1)
            gates[step] = torch.cat([i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()], 1)
            h, _, c = torch._VF.lstm(x[:, step:step + 1], state, [eye, w], False, 1, 0.0, False,
                                     False, True)
            hidden[step], cells[step], state = h[:, 0], c[0], (h.transpose(0, 1), c)
        return torch.stack(hidden, 1), torch.stack(cells, 1), torch.stack(gates, 1).detach()

    shapes = [[n, t, 4 * units], [4 * units, units]] + ([[n, units]] * 2 if states else [])
    return dict(name=name, op=OP, attrs=dict(reverse=reverse), torch=run,
                inputs=[{"shape": shape, "low": -1, "high": 1} for shape in shapes])


CASES = [case("plain", 2, 3, 2), case("states", 1, 3, 2, states=True),
         case("reverse", 2, 2, 1, reverse=True, states=True)]
