"""Layers beside PyTorch's where its databases do not look: statistics that layers keep, dropout
between recurrent layers, attention that returns its weights."""

import numpy as np
import pytest

import thimble as tb

torch = pytest.importorskip("torch")

RANDOM = np.random.default_rng(3)


def numbers(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def normalised(layer, **options):
    g = tb.Graph()
    x = g.input("x", (5, 3))
    y = layer(x, name="n", **options)
    g.minimize(tb.mean(tb.square(y)))
    g.output("y", y)
    return tb.Trainer(g, optimizer=tb.SGD(lr=0.0), batch=8)


@pytest.mark.parametrize("ours,theirs", [
    ({}, {}),
    ({"momentum": 0.4}, {"momentum": 0.4}),
    ({"cumulative": True}, {"momentum": None}),
    ({"momentum": None}, {"momentum": None}),
], ids=["default", "momentum", "cumulative", "none"])
@pytest.mark.parametrize("layer,module", [
    (tb.batch_norm, torch.nn.BatchNorm1d), (tb.instance_norm, torch.nn.InstanceNorm1d),
], ids=["batch_norm", "instance_norm"])
def test_running_statistics_move_as_pytorchs(layer, module, ours, theirs):
    if layer is tb.instance_norm:
        if theirs.get("momentum", 0) is None:
            pytest.skip("of batch_norm alone")
        tracked = {"track_running_stats": True}
        ours, theirs = {**tracked, "affine": True, **ours}, {**tracked, **theirs}
    trainer, other = normalised(layer, **ours), module(3, affine=True, **theirs)
    for _ in range(4):
        x = numbers(8, 5, 3) * 2 + 1
        trainer.step({"x": x})
        other(torch.from_numpy(x.swapaxes(1, 2)))
        for name in ("running_mean", "running_var"):
            np.testing.assert_allclose(
                trainer.parameters[f"n.{name}"], getattr(other, name).numpy(), rtol=1e-5, atol=1e-6)
    other.eval()
    x = numbers(8, 5, 3)
    wanted = other(torch.from_numpy(x.swapaxes(1, 2))).detach().numpy().swapaxes(1, 2)
    np.testing.assert_allclose(trainer.predict({"x": x}), wanted, rtol=1e-4, atol=1e-5)


def test_batch_norm_without_running_statistics_uses_the_batchs():
    trainer = normalised(tb.batch_norm, track_running_stats=False)
    other = torch.nn.BatchNorm1d(3, track_running_stats=False).eval()
    trainer.step({"x": numbers(8, 5, 3)})
    assert set(trainer.parameters) == {"n.weight", "n.bias"}
    x = numbers(8, 5, 3) * 3 + 2
    wanted = other(torch.from_numpy(x.swapaxes(1, 2))).detach().numpy().swapaxes(1, 2)
    np.testing.assert_allclose(trainer.predict({"x": x}), wanted, rtol=1e-4, atol=1e-5)


def test_a_momentum_of_none_is_refused_where_it_means_nothing():
    with pytest.raises(ValueError, match=r"\[instance_norm\] momentum must be a number, got None"):
        normalised(tb.instance_norm, momentum=None)


def recurrent(kind, **settings):
    module = getattr(torch.nn, kind.upper())(3, 4, num_layers=2, batch_first=True, **settings)
    weights = {f"r.{name}": p.detach().numpy().copy() for name, p in module.named_parameters()}
    return module, weights


def trained_as(kind, weights, x, **options):
    """The result of our layer in training."""
    function = tb.jit(
        lambda x, weights: tb.functional_call(
            getattr(tb, kind), weights, x, units=4, layers=2, name="r", **options)[0],
        training=True,
    )
    return function(x, weights)


@pytest.mark.parametrize("kind", ["rnn", "gru", "lstm"])
def test_recurrent_dropout_of_everything_leaves_the_second_layer_nothing(kind):
    module, weights = recurrent(kind, dropout=1.0)
    x = numbers(2, 6, 3)
    wanted = module(torch.from_numpy(x))[0].detach().numpy()
    np.testing.assert_allclose(
        trained_as(kind, weights, x, dropout=1.0), wanted, rtol=1e-5, atol=1e-6)


def test_recurrent_dropout_keeps_the_mean_and_has_the_variance_of_pytorchs():
    """With positive weights and inputs a relu layer is linear, so that dropout leaves the mean as it
    is; the variance is that of PyTorch's draws."""
    module, weights = recurrent("rnn", dropout=0.5, nonlinearity="relu")
    weights = {name: abs(w) * 0.5 for name, w in weights.items()}
    with torch.no_grad():
        for name, p in module.named_parameters():
            p.copy_(torch.from_numpy(weights[f"r.{name}"]))
    count = 20000
    x = np.broadcast_to(abs(numbers(1, 3, 3)), (count, 3, 3)).copy()
    torch.manual_seed(1)
    theirs = module(torch.from_numpy(x))[0].detach().numpy()
    plain = module.eval()(torch.from_numpy(x[:1]))[0].detach().numpy()[0]
    ours = trained_as("rnn", weights, x, dropout=0.5, relu=True)
    error = theirs.std(0) / np.sqrt(count)  # of a mean
    assert (abs(ours.mean(0) - plain) < 5 * error).all()
    assert (abs(ours.std(0) / theirs.std(0) - 1) < 0.05).all()


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("settings", [
    {}, {"add_bias_kv": True}, {"add_zero_attn": True}, {"kdim": 5, "vdim": 7},
    {"add_bias_kv": True, "add_zero_attn": True, "bias": False},
], ids=str)
@pytest.mark.parametrize("masked", [None, "causal", "keys", "added"])
def test_attention_returns_its_weights(settings, masked, average):
    module = torch.nn.MultiheadAttention(8, 2, batch_first=True, **settings)
    with torch.no_grad():
        for p in module.parameters():
            p.copy_(torch.from_numpy(numbers(*p.shape)) * 0.5)
    query, key, value = numbers(3, 4, 8), numbers(3, 4, settings.get("kdim", 8)), numbers(
        3, 4, settings.get("vdim", 8))
    ours, theirs = {}, {}
    if masked == "causal":
        ours["causal"] = True
        theirs["attn_mask"] = torch.triu(torch.ones(4, 4, dtype=torch.bool), diagonal=1)
    elif masked == "keys":
        hidden = np.zeros((3, 4), bool)
        hidden[1, 2:] = True
        ours["mask"] = (~hidden).astype(np.uint8)[:, None, None]
        theirs["key_padding_mask"] = torch.from_numpy(hidden)
    elif masked == "added":
        added = numbers(4, 4)
        ours["mask"] = added[None, None]
        theirs["attn_mask"] = torch.from_numpy(added)
    wanted, shares = module(*(torch.from_numpy(a) for a in (query, key, value)), **theirs,
                            average_attn_weights=average)
    given = {name.replace(".", "_"): p.detach().numpy() for name, p in module.named_parameters()}
    zeros = settings.get("add_zero_attn", False)
    y, weights = tb.multi_head_attention_with_weights(
        query, key, value, heads=2, add_zero_attn=zeros, per_head=not average, **ours, **given)
    np.testing.assert_allclose(weights, shares.detach().numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(y, wanted.detach().numpy(), rtol=1e-4, atol=1e-5)
    plain = tb.multi_head_attention(query, key, value, heads=2, add_zero_attn=zeros, **ours, **given)
    np.testing.assert_allclose(plain, wanted.detach().numpy(), rtol=1e-4, atol=1e-5)


def test_attention_layers_create_what_they_add():
    g = tb.Graph()
    x = g.input("x", (4, 8))
    y, weights = tb.multi_head_attention_with_weights(x, heads=2, add_bias_kv=True, name="a")
    assert tuple(weights.shape) == (-1, 4, 5)
    g.minimize(tb.mean(tb.square(y)))
    trainer = tb.Trainer(g)
    assert trainer.parameters["a.bias_k"].shape == (1, 1, 8)
    before = trainer.parameters["a.bias_v"].copy()
    trainer.step({"x": numbers(32, 4, 8)})
    assert (trainer.parameters["a.bias_v"] != before).any()
