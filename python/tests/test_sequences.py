"""Recurrent layers on padded sequences of different lengths."""

import numpy as np
import pytest

import thimble as tb

UNITS, FEATURES, STEPS = 3, 4, 6
LENGTHS = np.array([6, 1, 4], np.int32)
GATES = {"rnn": 1, "gru": 3, "lstm": 4}


def weights_of(kind, rng, layers=2):
    """Of two layers in both directions, by their names."""
    weights = {}
    for layer in range(layers):
        width = FEATURES if layer == 0 else 2 * UNITS
        for suffix in (f"_l{layer}", f"_l{layer}_reverse"):
            rows = GATES[kind] * UNITS
            shapes = {"weight_ih": (rows, width), "weight_hh": (rows, UNITS), "bias_ih": (rows,),
                      "bias_hh": (rows,)}
            for name, shape in shapes.items():
                weights[name + suffix] = rng.uniform(-1, 1, shape).astype(np.float32)
    return weights


def run(kind, weights, x, lengths=None):
    given = {f"layer.{name}": w for name, w in weights.items()}
    return tb.functional_call(getattr(tb, kind), given, x, lengths=lengths, units=UNITS, layers=2,
                              bidirectional=True, name="layer")


@pytest.mark.parametrize("kind", GATES)
def test_each_sequence_gives_what_it_gives_alone(kind, rng):
    weights = weights_of(kind, rng)
    x = rng.uniform(-1, 1, (3, STEPS, FEATURES)).astype(np.float32)
    y, *states = run(kind, weights, x, LENGTHS)
    for i, length in enumerate(LENGTHS):
        alone, *own = run(kind, weights, x[i : i + 1, :length])
        np.testing.assert_allclose(y[i, :length], alone[0], rtol=1e-5, atol=1e-6)
        assert (y[i, length:] == 0).all()
        for state, expected in zip(states, own, strict=True):
            np.testing.assert_allclose(state[i], expected[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", GATES)
def test_packed_sequences_of_pytorch_give_the_same_with_their_gradients(kind, rng):
    torch = pytest.importorskip("torch")
    weights = weights_of(kind, rng)
    x = rng.uniform(-1, 1, (3, STEPS, FEATURES)).astype(np.float32)
    layer = getattr(torch.nn, kind.upper())(FEATURES, UNITS, 2, bidirectional=True, batch_first=True)
    layer.load_state_dict({name: torch.from_numpy(w) for name, w in weights.items()})
    leaf = torch.from_numpy(x).requires_grad_()
    packed = torch.nn.utils.rnn.pack_padded_sequence(leaf, torch.from_numpy(LENGTHS).long(), True, False)
    out, _ = layer(packed)
    theirs, _ = torch.nn.utils.rnn.pad_packed_sequence(out, True, total_length=STEPS)
    factors = rng.uniform(-1, 1, theirs.shape).astype(np.float32)
    (theirs * torch.from_numpy(factors)).sum().backward()

    def loss(x, weights):
        y = run(kind, weights, x, LENGTHS)[0]
        return tb.sum(y * factors), y

    (_, ours), gradient = tb.value_and_grad(loss, has_aux=True)(x, weights)
    np.testing.assert_allclose(ours, theirs.detach(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(gradient, leaf.grad, rtol=1e-4, atol=1e-5)


def test_lengths_are_checked(rng):
    g = tb.Graph()
    x = g.input("x", (STEPS, FEATURES))
    with pytest.raises(ValueError, match=r"expected lengths i32\[N\]"):
        tb.gru(x, lengths=g.input("lengths", (2,), "i32"), units=UNITS)
