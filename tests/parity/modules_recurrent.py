"""Recurrent layers and their cells, batch in front."""
import thimble as tb
from layouts import moved
from registry import PACKED, Refused, module

_TIMES = 4


def _layer(function, m, w, x, given):
    """PyTorch's results: steps in front unless batch_first, and no batch where x has none."""
    if not hasattr(x, "ndim"):
        raise Refused(PACKED)
    bare = x.ndim == 2
    steps = 0 if bare or m.batch_first else 1  # the axis that the batch is moved to and from
    x = tb.reshape(x, (1, *x.shape)) if bare else moved(x, steps, 0)
    given = given if isinstance(given, (tuple, list)) else (given,) * (given is not None)
    before = [tb.reshape(s, (1, *s.shape)) if s.ndim == 2 else moved(s, 1, 0) for s in given]
    options = {"relu": m.nonlinearity == "relu"} if m.mode.startswith("RNN") else {}
    if m.proj_size > 0:
        options["projection"] = m.proj_size
    y, *after = tb.functional_call(
        function, {f"layer.{name}": each for name, each in w.items()}, x, *before,
        units=m.hidden_size, layers=m.num_layers, bidirectional=m.bidirectional, bias=m.bias,
        name="layer", **options)
    if bare:
        return [tb.reshape(each, each.shape[1:]) for each in (y, *after)]
    return [moved(y, 0, steps), *(moved(each, 0, 1) for each in after)]


def _recurrent(name, ours):
    function = getattr(tb, ours)

    @module(name, ours, times=_TIMES)
    def layer(m, w, x, given=None):
        return _layer(function, m, w, x, given)

    @module(name + "Cell", ours + "_cell", times=_TIMES)
    def cell(m, w, x, given=None):
        given = given if isinstance(given, (tuple, list)) else (given,) * (given is not None)
        bare = x.ndim == 1
        rows = [tb.reshape(each, (1, -1)) if bare else each for each in (x, *given)]
        options = {"relu": m.nonlinearity == "relu"} if ours == "rnn" else {}
        after = tb.functional_call(
            getattr(tb, ours + "_cell"), {f"cell.{key}": each for key, each in w.items()}, *rows,
            units=m.hidden_size, bias=m.bias, name="cell", **options)
        after = after if isinstance(after, tuple) else (after,)
        return [tb.reshape(each, (-1,)) if bare else each for each in after]


_recurrent("nn.RNN", "rnn")
_recurrent("nn.GRU", "gru")
_recurrent("nn.LSTM", "lstm")
