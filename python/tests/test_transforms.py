"""value_and_grad and jit."""

import numpy as np
import pytest

import thimble as tb


def finite_difference(fn, x, direction, step=1e-2):
    """The derivative of fn at x along a direction, by central differences."""
    plus, minus = fn(x + step * direction), fn(x - step * direction)
    return (float(plus) - float(minus)) / (2 * step)


def mlp(p, x, target):
    """A composite layer is a plain function."""

    def layer(x, weight, bias):
        return tb.tanh(tb.dense(x, weight, bias))

    hidden = layer(x, p["w1"], p["b1"])
    return tb.mse(hidden @ p["w2"] + p["b2"], target)


@pytest.fixture
def parameters(rng):
    shapes = {"w1": (7, 3), "b1": (7,), "w2": (7, 2), "b2": (2,)}
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def test_gradients_are_those_of_finite_differences(rng, parameters):
    x, target = rng.normal(size=(5, 3)), rng.normal(size=(5, 2))
    value, grads = tb.value_and_grad(mlp)(parameters, x, target)
    plain = tb.jit(mlp)
    np.testing.assert_allclose(value, plain(parameters, x, target), rtol=1e-6)
    assert grads.keys() == parameters.keys()
    for name, array in parameters.items():
        direction = rng.normal(size=array.shape).astype(np.float32)
        numeric = finite_difference(
            lambda a, name=name: plain({**parameters, name: a}, x, target), array, direction
        )
        assert np.sum(grads[name] * direction) == pytest.approx(numeric, rel=2e-2, abs=1e-3)


def test_argnums_choose_and_shape_the_gradients():
    f = lambda a, b: tb.sum(a * b)  # noqa: E731
    a, b = np.arange(3.0), np.ones(3)
    _, by_b = tb.value_and_grad(f, argnums=1)(a, b)
    np.testing.assert_array_equal(by_b, a)
    _, (by_a, by_b) = tb.value_and_grad(f, argnums=(0, 1))(a, b)
    np.testing.assert_array_equal(by_a, b)
    with pytest.raises(ValueError, match="argnums"):
        tb.value_and_grad(f, argnums=2)(a, b)


def test_what_the_function_does_not_depend_on_has_gradient_zero():
    _, grads = tb.value_and_grad(lambda p: tb.sum(p["used"]))(
        {"used": np.ones(2), "unused": np.ones((2, 2))}
    )
    np.testing.assert_array_equal(grads["unused"], np.zeros((2, 2)))


def test_arrays_of_integers_have_no_gradient():
    f = lambda batch: tb.softmax_cross_entropy(batch[0], batch[1])  # noqa: E731
    _, (by_logits, by_labels) = tb.value_and_grad(f)((np.zeros((2, 3)), np.array([0, 2])))
    assert by_labels is None
    expected = np.full((2, 3), 1 / 3) - np.eye(3)[[0, 2]]
    np.testing.assert_allclose(by_logits, expected / 2, rtol=1e-5)


def test_aux_comes_out_beside_the_loss():
    def f(x):
        return tb.sum(tb.square(x)), {"twice": x * 2, "constant": 3.0}

    (loss, aux), grad = tb.value_and_grad(f, has_aux=True)(np.arange(3.0))
    assert loss == 5 and aux["constant"] == 3
    np.testing.assert_array_equal(aux["twice"], [0, 2, 4])
    np.testing.assert_array_equal(grad, [0, 2, 4])
    with pytest.raises(ValueError, match="has_aux"):
        tb.value_and_grad(lambda x: tb.sum(x), has_aux=True)(np.ones(2))


def test_traces_once_for_every_shape_and_static_argument():
    traces = []

    def f(x, power, *, scale=1.0):
        traces.append(x.shape)
        return tb.sum(x**power) * scale

    g = tb.value_and_grad(f)
    for shape, power in [((2,), 2), ((2,), 2), ((3,), 2), ((2,), 3), ((2,), 2)]:
        g(np.ones(shape), power)
    g(np.ones(2), 2, scale=4.0)
    value, grad = g(np.ones(2), 2, scale=5.0)  # a float is an array of no dimensions
    assert traces == [(2,), (3,), (2,), (2,)]
    assert value == 10
    np.testing.assert_array_equal(grad, [10, 10])


def test_the_loss_must_be_one_number():
    with pytest.raises(ValueError, match=r"must return one f32 number, got f32\[3\]"):
        tb.value_and_grad(lambda x: x * 2)(np.ones(3))


def test_an_argument_may_be_the_result():
    np.testing.assert_array_equal(tb.jit(lambda x: x)(np.arange(3.0)), np.arange(3.0))
    first, second = tb.jit(lambda x: (x, x))(np.arange(3.0))
    np.testing.assert_array_equal(first, second)
    assert not np.shares_memory(first, second)


def test_dropout_is_of_training_alone():
    f = lambda x: tb.dropout(x, p=0.5)  # noqa: E731
    np.testing.assert_array_equal(tb.jit(f)(np.ones(100)), 1)
    assert set(tb.jit(f, training=True)(np.ones(100))) == {0, 2}


def test_trains_a_linear_model_by_hand(rng):
    true = np.array([[2.0], [-1.0]], np.float32)
    x = rng.normal(size=(64, 2)).astype(np.float32)
    step = tb.value_and_grad(lambda w, x, y: tb.mse(x @ w, y))
    w = np.zeros((2, 1), np.float32)
    for _ in range(200):
        _, grad = step(w, x, x @ true)
        w -= 0.1 * grad
    np.testing.assert_allclose(w, true, atol=1e-4)


def test_threads_may_call_at_once():
    from concurrent.futures import ThreadPoolExecutor

    step = tb.value_and_grad(lambda w: tb.sum(tb.square(w)))

    def work(i):
        return step(np.full(1000 + i % 3, float(i)))[1][0]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(64))) == [2.0 * i for i in range(64)]


def test_functional_call_gives_layers_their_weights():
    def loss(p, x):
        y, _ = tb.functional_call(tb.gru, p, x, units=2, bias=False, name="g")
        return tb.sum(y)

    rng = np.random.default_rng(3)
    p = {"g.weight_ih_l0": rng.normal(size=(6, 3)), "g.weight_hh_l0": rng.normal(size=(6, 2))}
    x = rng.normal(size=(2, 4, 3))
    _, grads = tb.value_and_grad(loss)(p, x)
    assert {name: g.shape for name, g in grads.items()} == {k: v.shape for k, v in p.items()}
    nudged = {**p, "g.weight_hh_l0": p["g.weight_hh_l0"] + 1e-3 * np.eye(6, 2)}
    slope = (tb.jit(loss)(nudged, x) - tb.jit(loss)(p, x)) / 1e-3
    assert slope == pytest.approx(grads["g.weight_hh_l0"][[0, 1], [0, 1]].sum(), rel=2e-2)


def test_functional_call_names_weights_of_another_shape():
    p = {"g.weight_ih_l0": np.ones((6, 3)), "g.weight_hh_l0": np.ones((6, 3))}

    def fn(p, x):
        return tb.functional_call(tb.gru, p, x, units=2, bias=False, name="g")

    with pytest.raises(ValueError, match=r"\[g.weight_hh_l0\] expected weights f32\[6, 2\]"):
        tb.jit(fn)(p, np.ones((1, 4, 3)))


def test_functional_call_computes_on_arrays_at_once(rng):
    torch = pytest.importorskip("torch")
    module = torch.nn.LSTM(3, 4, batch_first=True)
    x = torch.from_numpy(rng.normal(size=(2, 5, 3)).astype(np.float32))
    p = {"l." + name: tensor for name, tensor in module.named_parameters()}
    for weights in (p, {name: tensor.detach().numpy() for name, tensor in p.items()}):
        y, h, c = tb.functional_call(tb.lstm, weights, x, units=4, dropout=0.0, name="l")
        theirs, (their_h, _) = module(x)
        np.testing.assert_allclose(y, theirs.detach(), atol=1e-6)
        np.testing.assert_allclose(h[:, 0], their_h[0].detach(), atol=1e-6)


def test_functional_call_says_which_names_are_wrong_or_missing():
    p = {"r.weight_ih": np.ones((2, 3)), "r.weight_hh": np.ones((2, 2))}
    x = np.ones((1, 3))

    def cell(p):
        return tb.functional_call(tb.rnn_cell, p, x, units=2, bias=False, name="r")

    assert cell(p).shape == (1, 2)
    with pytest.raises(ValueError, match=r"takes r.weight, s.b; .* are r.weight_hh, r.weight_ih$"):
        cell({**p, "s.b": np.ones(2), "r.weight": np.ones(2)})
    with pytest.raises(ValueError, match=r"takes r.w; .* are r.weight_ih f32\[2, 3\], r.weight_hh f"):
        cell({"r.w": np.ones((2, 3))})
    missing = r"missing for r.weight_hh f32\[2, 2\]; give them with thimble.functional_call"
    with pytest.raises(ValueError, match=missing):
        cell({"r.weight_ih": p["r.weight_ih"]})
    with pytest.raises(ValueError, match=r"\[value_and_grad\] .* r.weight_hh f32\[2, 2\]"):
        tb.value_and_grad(lambda w: tb.sum(cell({"r.weight_ih": w})))(p["r.weight_ih"])
    _, grad = tb.value_and_grad(lambda w: tb.sum(cell({**p, "r.weight_ih": w})))(p["r.weight_ih"])
    assert grad.shape == (2, 3) and (grad != 0).all()


def test_functional_calls_nest_and_take_part_in_a_graph():
    def outer(x):
        y = tb.functional_call(tb.dense, {"in.weight": 2 * np.eye(3)}, x, units=3, name="in")
        return tb.dense(y, units=3, name="out")

    p = {name: np.zeros(3) for name in ("in.bias", "out.bias")}
    p["out.weight"] = np.eye(3)
    np.testing.assert_array_equal(tb.functional_call(outer, p, np.ones((1, 3))), [[2, 2, 2]])
    g = tb.Graph()
    x = g.input("x", (3,))
    y = tb.functional_call(tb.dense, {"d.weight": np.eye(3)}, x, units=3, name="d")
    g.minimize(tb.mean(y))
    assert list(tb.Trainer(g).parameters) == ["d.bias"]


def test_norms_keep_no_statistics_on_arrays():
    p = {"n.weight": np.ones(3), "n.bias": np.ones(3)}
    with pytest.raises(ValueError, match=r"\(n.running_mean, .* call the norm itself"):
        tb.functional_call(tb.batch_norm, p, np.ones((2, 3)), name="n")


def test_time_distributed_applies_a_function_to_every_step(rng):
    x = rng.normal(size=(2, 5, 3)).astype(np.float32)
    w = rng.normal(size=(4, 3)).astype(np.float32)
    y = tb.time_distributed(x, lambda step: tb.dense(step, w))
    np.testing.assert_allclose(y, x @ w.T, rtol=1e-5, atol=1e-6)
    g = tb.Graph()
    video = g.input("video", (7, 8, 8, 1))
    frames = tb.time_distributed(video, lambda f: tb.conv2d(f, channels=2, kernel=3, name="f"))
    assert frames.shape == (-1, 7, 6, 6, 2)
    with pytest.raises(ValueError, match="keeps the first of its dimensions"):
        tb.time_distributed(x, lambda step: tb.reshape(step, (-1,)))
    with pytest.raises(ValueError, match="returns a Value of x's graph"):
        tb.time_distributed(video, lambda step: 3)
