"""Training loops of one's own: step, gradients, optimizers as functions, L-BFGS, several losses."""

import importlib.util
import pathlib
import threading

import numpy as np
import pytest
from conftest import classifier

import thimble as tb

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


def some(digits, count):
    return {name: values[:count] for name, values in digits.items()}


def test_step_is_a_step_of_fit(digits):
    fitted, stepped = tb.Trainer(classifier()), tb.Trainer(classifier())
    fitted.fit(some(digits, 32), shuffle=False)
    before = stepped.evaluate(some(digits, 32)).loss
    report = stepped.step(some(digits, 32))
    assert report.loss == pytest.approx(before, rel=1e-5) and report.samples == 32
    assert stepped.steps == 1 and stepped.epochs == 0
    assert stepped.weights_sha256() == fitted.weights_sha256()
    with pytest.raises(ValueError, match=r"\[step\] expected 1 to 32 samples"):
        stepped.step(some(digits, 33))


def test_gradients_are_those_of_the_next_step_and_change_nothing(digits):
    trainer = tb.Trainer(classifier(), optimizer=tb.SGD(lr=0.5))
    batch = some(digits, 20)
    hash = trainer.weights_sha256()
    gradients = trainer.gradients(batch)
    assert trainer.weights_sha256() == hash and set(gradients) == set(trainer.parameter_names)
    before = trainer.state_dict()
    assert trainer.step(batch).loss == gradients.loss
    assert gradients.metrics.keys() == {"accuracy"}
    for name, gradient in gradients.items():
        np.testing.assert_allclose(trainer.parameters[name], before[name] - 0.5 * gradient, atol=1e-6)


@pytest.mark.parametrize("optimizer", [tb.AdamW(lr=0.01), tb.SGD(lr=0.1, momentum=0.9), tb.LAMB(),
                                       tb.Adafactor(), tb.Adam(state_bits=8)], ids=lambda o: o._name)
def test_optimizers_are_functions_with_a_trainers_bits(digits, optimizer):
    trained, by_hand = (tb.Trainer(classifier(), optimizer=optimizer) for _ in range(2))
    batch = some(digits, 32)
    params = by_hand.state_dict()
    state = optimizer.init(params)
    for _ in range(3):
        trained.step(batch)
        given = {name: p.copy() for name, p in params.items()}
        params, state = optimizer.update(params, dict(by_hand.gradients(batch)), state)
        assert all((given[name] != params[name]).any() for name in given)
        by_hand.load_state_dict(params)
    assert state.updates == (3,) * len(params)
    assert trained.weights_sha256() == by_hand.weights_sha256()


def test_updates_take_trees_and_leave_what_has_no_gradient():
    params = [np.ones(3, np.float32), {"b": (np.zeros((2, 2)),)}]
    sgd = tb.SGD(lr=1.0)
    after, state = sgd.update(params, [None, {"b": (np.ones((2, 2)),)}], sgd.init(params), lr=0.25)
    assert after[0] is params[0] and (after[1]["b"][0] == -0.25).all()
    assert state.updates == (0, 1)
    for grads, got in (([None], r"\[\.\.\.\]"), ([None, {"b": None}], r"\{'b': \.\.\.\}\]"),
                       ([None, {"c": (None,)}], r"\{'c': \(\.\.\.,\)\}\]")):
        with pytest.raises(ValueError, match="gradients must have the structure.*got .*" + got):
            sgd.update(params, grads, state)
    with pytest.raises(ValueError, match="the state is one of 1 parameters, got 2"):
        sgd.update(params, [None, {"b": (None,)}], sgd.init(np.ones(3)))
    for lr in (float("nan"), float("inf"), -1.0):
        with pytest.raises(ValueError, match="lr must be finite and not negative"):
            sgd.update(params, [None, {"b": (None,)}], state, lr=lr)
    with pytest.raises(ValueError, match=r"\[update\] expected a gradient of shape \[3\]"):
        sgd.update(params, [np.ones(4), {"b": (None,)}], state)
    with pytest.raises(ValueError, match="gradients are floating point, got an array of int64"):
        sgd.update(params, [np.ones(4, np.int64), {"b": (None,)}], sgd.init(params))
    with pytest.raises(ValueError, match="parameters are floating point, got an array of int32"):
        sgd.init(np.ones(4, np.int32))


@pytest.mark.parametrize("name", ["Adam", "NAdam", "RAdam", "Adamax", "Adafactor"])
def test_a_parameter_counts_its_own_updates_as_in_pytorch(name):
    torch = pytest.importorskip("torch")
    ours = getattr(tb, name)(lr=0.1)
    start, gradient = np.array([1.0, -2.0], np.float32), np.array([0.3, -0.4], np.float32)
    theirs = [torch.tensor(start, requires_grad=True) for _ in range(2)]
    optimizer = getattr(torch.optim, name)(theirs, lr=0.1)
    params = [start, start]
    state = ours.init(params)
    for i in range(6):
        late = gradient if i >= 3 else None
        params, state = ours.update(params, [gradient, late], state)
        for tensor, given in zip(theirs, (gradient, late)):
            tensor.grad = None if given is None else torch.tensor(given)
        optimizer.step()
    assert state.updates == (6, 3)
    for have, wanted in zip(params, theirs):
        np.testing.assert_allclose(have, wanted.detach().numpy(), rtol=1e-6)


def test_updates_of_several_threads_do_not_meet():
    optimizer = tb.AdamW(lr=0.1)
    params = [np.full(100_000, float(k), np.float32) for k in range(4)]
    wanted = [optimizer.update(p, p, optimizer.init(p))[0] for p in params]
    wrong = []

    def run(p, want):
        for _ in range(30):
            if not np.array_equal(optimizer.update(p, p, optimizer.init(p))[0], want):
                wrong.append(p[0])

    threads = [threading.Thread(target=run, args=each) for each in zip(params, wanted)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_settings_reach_the_optimizer_whatever_their_default():
    assert "nesterov=false" in tb.Muon(nesterov=False)._text()
    gradients = np.random.default_rng(0).normal(size=(3, 2, 2)) * [[[4]], [[2]], [[1]]]

    def after(optimizer):
        params, state = np.ones((2, 2), np.float32), optimizer.init(np.ones((2, 2)))
        for gradient in gradients:
            params, state = optimizer.update(params, gradient, state)
        return params

    assert (after(tb.Muon(nesterov=False)) != after(tb.Muon())).any()
    for true in (1, np.bool_(True)):
        np.testing.assert_array_equal(after(tb.Adam(amsgrad=true)), after(tb.Adam(amsgrad=True)))
    assert (after(tb.Adam(amsgrad=True)) != after(tb.Adam())).any()
    with pytest.raises(ValueError, match=r"\[Adam\] betas must be 2 numbers \(beta1, beta2\)"):
        tb.Adam(betas=(0.9,)).init(np.ones(2))


def test_lbfgs_minimizes_functions_as_pytorch_does():
    torch = pytest.importorskip("torch")

    def rosenbrock(x):
        return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()

    def ours(x):
        t = torch.tensor(x, requires_grad=True)
        value = rosenbrock(t)
        value.backward()
        return value.item(), t.grad.numpy()

    theirs = torch.tensor([-1.2, 1.0, 0.5], dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([theirs], line_search_fn="strong_wolfe", max_iter=5)

    def closure():
        optimizer.zero_grad()
        value = rosenbrock(theirs)
        value.backward()
        return value

    lbfgs = tb.LBFGS(line_search="strong_wolfe", max_iter=5)
    x = np.array([-1.2, 1.0, 0.5])
    for _ in range(4):
        wanted = optimizer.step(closure).item()
        x, value = lbfgs.minimize(ours, x)
        assert value == pytest.approx(wanted, rel=1e-9)
        np.testing.assert_allclose(x, theirs.detach().numpy(), rtol=1e-7)
    assert lbfgs.iterations == optimizer.state[theirs]["n_iter"]
    with pytest.raises(ValueError, match="line_search"):
        tb.LBFGS(line_search="armijo")
    x = {"a": np.ones(2), "b": np.ones(2)}
    with pytest.raises(ValueError, match="the gradient must have the structure of x.*'c'"):
        tb.LBFGS().minimize(lambda x: (1.0, {"a": x["a"], "c": x["b"]}), x)
    with pytest.raises(ValueError, match="the gradient must have the shapes of x"):
        tb.LBFGS().minimize(lambda x: (1.0, {"a": x["a"][:1], "b": np.ones(3)}), x)


def test_lbfgs_trains_a_trainer_and_leaves_it_whole_where_the_loss_goes_bad(digits):
    batch = some(digits, 128)
    trainer = tb.Trainer(classifier(), batch=128)
    before = trainer.evaluate(batch).loss
    lbfgs = tb.LBFGS(line_search="strong_wolfe")
    losses = [lbfgs.step(trainer, batch) for _ in range(4)]
    assert losses[0] == pytest.approx(before, rel=1e-5) and trainer.steps == 0
    assert losses[-1] < 0.05 * losses[0]
    fresh = tb.Trainer(classifier(), batch=128)
    hash = fresh.weights_sha256()
    with pytest.raises(RuntimeError, match="the loss is not finite"):
        tb.LBFGS(lr=1e38).step(fresh, batch)
    assert fresh.weights_sha256() == hash


def test_the_gan_learns():
    spec = importlib.util.spec_from_file_location("gan", EXAMPLES / "gan.py")
    gan = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(gan)
    digits = tb.data.digits(1024)
    trainer = gan.trainer()

    def distance():
        """Between the mean image of what is drawn and that of the digits."""
        drawn = trainer.predict(digits.take(256), "drawn")
        return float(abs(drawn.mean(0) - digits.arrays()["image"].mean(0)).mean())

    before = distance()
    result = trainer.fit(digits, epochs=3)
    assert distance() < 0.25 * before
    assert all(np.isfinite(list(e.train.metrics.values())).all() for e in result.epochs)


def test_objectives_that_do_not_fit_are_refused():
    def message(*objectives):
        with pytest.raises(ValueError) as caught:
            tb.Trainer(classifier(), objectives=objectives)
        return str(caught.value)

    assert 'there is no "loss"' in message(tb.Objective("loss", "conv.*"))
    assert "matches no parameter" in message(tb.Objective("accuracy", "no.*"))
    with pytest.raises(TypeError, match="objectives must hold thimble.Objective"):
        tb.Trainer(classifier(), objectives=["accuracy"])
