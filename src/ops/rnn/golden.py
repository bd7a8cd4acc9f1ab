import torch

OP = "rnn_scan"


def case(name, n, t, units, reverse=False, relu=False, state=False):
    """torch.nn.RNN with unit weights for x: our x is multiplied already."""

    def run(x, w, h0=None):
        first = torch.zeros(1, n, units, dtype=x.dtype) if h0 is None else h0[None]
        layer = torch._VF.rnn_relu if relu else torch._VF.rnn_tanh
        sequence = x.flip(1) if reverse else x
        weights = [torch.eye(units, dtype=x.dtype), w]
        h = layer(sequence, first, weights, False, 1, 0.0, False, False, True)[0]
        return h.flip(1) if reverse else h

    shapes = [[n, t, units], [units, units]] + ([[n, units]] if state else [])
    return dict(name=name, op=OP, attrs=dict(reverse=reverse, relu=relu), torch=run,
                inputs=[{"shape": shape, "low": -1, "high": 1} for shape in shapes])


CASES = [case("plain", 2, 3, 2), case("relu", 1, 4, 3, relu=True, state=True),
         case("reverse", 2, 3, 2, reverse=True, state=True)]
