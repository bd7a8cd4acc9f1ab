"""Trainer: what it takes, what it gives, callbacks, interruption."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from conftest import classifier

import thimble as tb


def weights_after(data, **settings):
    trainer = tb.Trainer(classifier(), batch=32, optimizer=tb.SGD(lr=0.1))
    trainer.fit(data, **{"epochs": 2, "shuffle": False, **settings})
    return trainer.weights_sha256()


def batches_of(digits, size=32, form=tuple):
    image, digit = digits["image"], digits["digit"]
    rows = [slice(i, i + size) for i in range(0, len(image), size)]
    if form is dict:
        return [{"digit": digit[r], "image": image[r]} for r in rows]
    return [form((image[r], digit[r])) for r in rows]


def test_learns_the_built_in_digits():
    trainer = tb.Trainer(classifier(), optimizer=tb.AdamW(lr=3e-3), memory_budget="1 MiB")
    before = trainer.evaluate(tb.data.digits(500, split="test"))
    result = trainer.fit(tb.data.digits(3000), epochs=3)
    after = trainer.evaluate(tb.data.digits(500, split="test"))
    assert result.end == "finished" and result.steps == trainer.steps == 3 * 94
    assert [e.epoch for e in result.epochs] == [0, 1, 2]
    assert after.samples == 500
    assert before.metrics["accuracy"] < 0.3 and after.metrics["accuracy"] > 0.8
    assert after.loss < before.loss / 2


def test_every_form_of_data_trains_to_the_same_bits(digits):
    image, digit = digits["image"], digits["digit"]
    expected = weights_after((image, digit))
    assert weights_after({"digit": digit, "image": image}) == expected
    assert weights_after(batches_of(digits)) == expected
    assert weights_after(batches_of(digits, form=dict)) == expected
    assert weights_after(lambda: iter(batches_of(digits))) == expected
    assert weights_after((image.astype(np.float64), digit.astype(np.int64))) == expected
    assert weights_after((image[:, ::-1][:, ::-1], digit)) == expected
    assert weights_after(tb.data.digits(256, seed=3)) == expected
    assert weights_after((image, digit), shuffle=True) != expected


def test_torch_tensors_and_data_loaders_are_data(digits):
    torch = pytest.importorskip("torch")
    from torch.utils.data import DataLoader, TensorDataset

    image, digit = torch.from_numpy(digits["image"]), torch.from_numpy(digits["digit"])
    expected = weights_after((digits["image"], digits["digit"]))
    assert weights_after((image, digit.long())) == expected
    loader = DataLoader(TensorDataset(image, digit.long()), batch_size=32)
    assert weights_after(loader) == expected
    trainer = tb.Trainer(classifier())
    with pytest.raises(ValueError, match=r"permute\(0, 2, 3, 1\)"):
        trainer.fit((image.permute(0, 3, 1, 2), digit))
    assert trainer.evaluate(loader).samples == 256


def test_a_short_last_batch_counts_by_its_samples(digits):
    data = {name: array[:70] for name, array in digits.items()}
    trainer = tb.Trainer(classifier(), batch=32)
    assert trainer.evaluate(data).samples == 70
    stream = trainer.evaluate(batches_of(data, 32))
    assert stream.loss == pytest.approx(trainer.evaluate(data).loss, rel=1e-6)
    assert trainer.fit(data).steps == 3


def test_predict_gives_every_sample_in_order(digits):
    trainer = tb.Trainer(classifier(), batch=32)
    logits = trainer.predict(digits["image"][:70])
    assert logits.shape == (70, 10) and logits.dtype == np.float32
    np.testing.assert_array_equal(trainer.predict({"image": digits["image"][:70]}), logits)
    np.testing.assert_array_equal(
        trainer.predict([batch[:1] for batch in batches_of(digits)], "logits")[:70], logits
    )
    np.testing.assert_allclose(trainer.predict(digits["image"][3:5]), logits[3:5], atol=1e-6)
    with pytest.raises(ValueError, match="no output 'probabilities'; there are logits"):
        trainer.predict(digits["image"], "probabilities")


def test_predict_gives_several_outputs_by_name():
    g = tb.Graph()
    x = g.input("x", (3,))
    g.output("class", tb.argmax(x))
    g.output("double", x * 2)
    g.minimize(tb.mean(tb.dense(x, units=1)))
    out = tb.Trainer(g, batch=2).predict(np.eye(3))
    np.testing.assert_array_equal(out["class"], [0, 1, 2])
    assert out["class"].dtype == np.int32
    np.testing.assert_array_equal(out["double"], 2 * np.eye(3))


BAD_DATA = [
    (lambda d: d["image"], r"\[data\] no array for digit; got image"),
    (lambda d: (d["image"], d["digit"], d["digit"]), r"3 arrays for the fields image, digit"),
    (lambda d: (d["image"][:, :27], d["digit"]), r"\[image\] expected \[N, 28, 28, 1\]"),
    (lambda d: (d["image"][..., 0], d["digit"]), r"got \[256, 28, 28\]; .* with x\[..., None\]$"),
    (lambda d: (d["image"].reshape(-1, 784), d["digit"]), r"x.reshape\(-1, 28, 28, 1\) has that sh"),
    (lambda d: (d["image"][0], d["digit"]), r"got \[28, 28, 1\]; that is one sample: .* x\[None\]$"),
    (lambda d: (d["image"][0, 0, 0, 0], d["digit"]), r"\[image\] expected .*, got \[\]$"),
    (lambda d: (d["image"], d["digit"][:, None]), r"got \[256, 1\]; x.reshape\(-1\) has that shape"),
    (lambda d: (d["image"], d["digit"][:7]), r"\[digit\] has 7 samples, \"image\" has 256"),
    (lambda d: (d["image"], d["digit"] + 0.5), r"\[digit\] expected int32, got an array of float"),
    (lambda d: iter(batches_of(d, 64)), r"\[batch\] expected 1 to 32 samples"),
    (lambda d: iter([]), r"the iterable gave no batches"),
    (lambda d: [(d["image"][:4], d["digit"][:3])], r"\[digit\] has 3 samples"),
]


@pytest.mark.parametrize("use", ["evaluate", "predict"])
def test_images_without_channels_are_named_by_every_method(digits, use):
    trainer = tb.Trainer(classifier())
    for flat in (digits["image"].reshape(-1, 784), digits["image"][..., 0]):
        with pytest.raises(ValueError, match=r"^\[image\] expected \[N, 28, 28, 1\], got "):
            getattr(trainer, use)({**digits, "image": flat})


@pytest.mark.parametrize("make,message", BAD_DATA, ids=[row[1][:24] for row in BAD_DATA])
def test_bad_data_is_a_value_error(digits, make, message):
    with pytest.raises(ValueError, match=message):
        tb.Trainer(classifier()).fit(make(digits))


def test_an_iterator_that_ends_is_not_enough_for_two_epochs(digits):
    trainer = tb.Trainer(classifier())
    with pytest.raises(ValueError, match="starts anew"):
        trainer.fit(iter(batches_of(digits)), epochs=2)
    assert trainer.steps == 8


BAD_SETTINGS = [
    (dict(optimizer=tb.AdamW(lr=-1)), "lr"),
    (dict(optimizer="lamp:lr=1"), "lamp"),
    (dict(batch=0), r"\[batch\] expected 1 or more, got 0"),
    (dict(memory_budget=1000), "Nearest budget that works"),
    (dict(memory_budget="2 apples"), "expected bytes or a text such as"),
    (dict(clip=tb.GradientClip(1, kind="l7")), "l7"),
    (dict(groups=[tb.ParamGroup("nothing.*")]), "nothing"),
]


@pytest.mark.parametrize("settings,message", BAD_SETTINGS, ids=[row[1][:20] for row in BAD_SETTINGS])
def test_bad_settings_are_value_errors(settings, message):
    with pytest.raises(ValueError, match=message):
        tb.Trainer(classifier(), **settings)


def test_a_loss_that_is_not_finite_is_a_runtime_error(digits):
    image = digits["image"].copy()
    image[100] = np.nan
    trainer = tb.Trainer(classifier())
    with pytest.raises(RuntimeError, match="the loss is not finite at step 4"):
        trainer.fit((image, digits["digit"]), shuffle=False)
    assert np.isfinite(trainer.parameters["conv.weight"]).all()


def test_optimizers_say_what_they_are(digits):
    for optimizer, other in [
        (tb.AdamW(lr=1e-2, betas=(0.8, 0.9)), "adamw:lr=0.01,beta1=0.8,beta2=0.9"),
        (tb.Adam(amsgrad=True, eps=1e-6), "adam:amsgrad,epsilon=1e-6"),
        (tb.SGD(lr=0.1, momentum=0.9, nesterov=True), "sgd:lr=0.1,momentum=0.9,nesterov"),
        (tb.RMSProp(centered=True), "rmsprop:centered"),
    ]:
        pair = [tb.Trainer(classifier(), optimizer=o) for o in (optimizer, other)]
        for trainer in pair:
            trainer.fit(digits)
        assert pair[0].weights_sha256() == pair[1].weights_sha256()


def test_penalties_pull_and_averages_lag(digits):
    def norm(**settings):
        trainer = tb.Trainer(classifier(), optimizer=tb.SGD(lr=0.1), **settings)
        trainer.fit(digits, epochs=2)
        return trainer, float(np.abs(trainer.parameters["dense.weight"]).sum())

    plain, size = norm()
    for group in (tb.ParamGroup("dense.weight", l1=0.01), tb.ParamGroup("dense.weight", l2=0.1)):
        assert norm(groups=[group])[1] < 0.99 * size
    averaged, same = norm(ema_decay=0.99)
    assert same == size
    assert averaged.evaluate(digits).loss > plain.evaluate(digits).loss
    averaged.load_state_dict(plain.state_dict())
    assert averaged.evaluate(digits).loss == plain.evaluate(digits).loss


def test_a_group_has_its_own_limit_of_gradients(digits):
    def weights(**settings):
        trainer = tb.Trainer(classifier(), optimizer=tb.SGD(lr=0.1), **settings)
        trainer.fit(digits)
        return trainer.weights_sha256()

    every = [tb.ParamGroup("*", clip_limit=1e-3)]
    assert weights(clip=1.0, groups=every) == weights(clip=1e-3) != weights(clip=1.0)
    assert weights(clip=1e-3, groups=[tb.ParamGroup("*", clip_limit=0.0)]) == weights()
    with pytest.raises(ValueError, match="gradients are not clipped"):
        weights(groups=every)


def test_schedules_set_the_learning_rate(digits):
    schedule = tb.Schedule.warmup(2, tb.Schedule.cosine_annealing(max=0.1, decay_steps=6))
    rates = []

    class Rates(tb.Callback):
        def on_step(self, report):
            rates.append(report.learning_rate)

    tb.Trainer(classifier(), schedule=schedule).fit(digits, callbacks=[Rates()])
    assert rates == [schedule.at(step) for step in range(8)]
    assert rates[:3] == pytest.approx([0.1 / 3, 0.2 / 3, 0.1])
    with pytest.raises(ValueError, match="decay_steps"):
        tb.Schedule.linear(max=1.0, decay_steps=0)


def test_every_schedule_can_be_made():
    s = tb.Schedule
    for schedule, rates in [
        (s.constant(0.1), [0.1, 0.1, 0.1]),
        (s.step(0.1, step_size=2), [0.1, 0.1, 0.01]),
        (s.exponential(0.1, gamma=0.5), [0.1, 0.05, 0.025]),
        (s.linear(1.0, decay_steps=4), [1.0, 0.75, 0.5]),
        (s.polynomial(1.0, decay_steps=2, power=2.0), [1.0, 0.25, 0.0]),
        (s.cosine_restarts(1.0, t_0=2), [1.0, 0.5, 1.0]),
        (s.sequence([(1, s.constant(0.5)), (1, s.constant(0.2))]), [0.5, 0.2, 0.2]),
        (s.multi_step(1.0, milestones=[1, 2], gamma=0.5), [1.0, 0.5, 0.25]),
        (s.cyclic(1.0, min=0.2, step_size_up=2, step_size_down=4), [0.2, 0.6, 1.0]),
        (s.cyclic(1.0, step_size_up=1, mode="triangular2"), [0.0, 1.0, 0.0]),
        (s.one_cycle(1.0, total_steps=10, anneal="linear", pct_start=0.2), [0.04, 1.0, None]),
        (s.reduce_on_plateau(0.1, mode="max"), [0.1, 0.1, 0.1]),
        (s.parse("warmup:steps=1/constant", 0.1), [0.05, 0.1, 0.1]),
        (s.function(lambda step: 1.0 / (step + 1)), [1.0, 0.5, 1 / 3]),
    ]:
        for step, rate in enumerate(rates):
            assert rate is None or schedule(step) == pytest.approx(rate), schedule
    with pytest.raises(ValueError, match='expected "min" or "max", got "most"'):
        s.reduce_on_plateau(0.1, mode="most")


def test_a_schedule_may_be_a_function(digits):
    rates = []
    trainer = tb.Trainer(classifier(), schedule=lambda step: rates.append(step) or 0.01)
    trainer.fit(digits)
    assert set(rates) >= set(range(8))


def test_callbacks_are_told_and_may_stop(digits):
    told = []

    class Note(tb.Callback):
        def on_step(self, report):
            told.append(("step", report.step, report.batch, report.batches))

        def on_epoch(self, report):
            told.append(("epoch", report.epoch, self.trainer.evaluate(digits).samples))

    trainer = tb.Trainer(classifier(), batch=128)
    result = trainer.fit(digits, epochs=5, callbacks=[Note(), lambda report: report.epoch == 1])
    assert told == [
        ("step", 0, 0, 2), ("step", 1, 1, 2), ("epoch", 0, 256),
        ("step", 2, 0, 2), ("step", 3, 1, 2), ("epoch", 1, 256),
    ]  # fmt: skip
    assert result.end == "stopped" and result.steps == 4


def test_what_a_callback_raises_comes_out_and_training_can_go_on(digits):
    def bad(report):
        raise KeyError("mine")

    trainer = tb.Trainer(classifier())
    with pytest.raises(KeyError, match="mine"):
        trainer.fit(digits, epochs=3, callbacks=[bad])
    assert trainer.steps == 8
    assert trainer.fit(digits, epochs=2).steps == 24


def test_fit_within_fit_is_refused(digits):
    trainer = tb.Trainer(classifier())
    with pytest.raises(RuntimeError, match="from a callback of fit"):
        trainer.fit(digits, callbacks=[lambda report: trainer.fit(digits)])


@pytest.mark.parametrize("form", ["arrays", "batches"])
def test_ctrl_c_stops_after_the_step_with_everything_in_order(digits, tmp_path, form):
    data = digits if form == "arrays" else batches_of(digits)
    whole = tb.Trainer(classifier(), seed=1)
    whole.fit(data, epochs=40)

    trainer = tb.Trainer(classifier(), seed=1)
    timer = threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        trainer.fit(data, epochs=1000000, checkpoint=tmp_path / "c.safetensors")
    timer.join()
    steps = trainer.steps
    assert steps > 0
    if steps < 40 * 8:
        trainer.fit(data, epochs=40, initial_epoch=trainer.epochs)
        assert trainer.weights_sha256() == whole.weights_sha256()
        resumed = tb.Trainer(classifier(), seed=1)
        resumed.resume(tmp_path / "c.safetensors")
        assert resumed.steps == steps
        resumed.fit(data, epochs=40, initial_epoch=resumed.epochs)
        assert resumed.weights_sha256() == whole.weights_sha256()


@pytest.mark.parametrize("form", ["data set", "arrays", "batches"])
def test_ctrl_c_ends_an_evaluation(digits, form):
    forms = {"data set": tb.data.digits(20000), "arrays": digits, "batches": None}
    data = forms[form] or (lambda: (batches_of(digits)[0] for _ in range(20000)))
    if form == "arrays":
        data = {name: np.broadcast_to(a[:1], (20000, *a.shape[1:])) for name, a in digits.items()}
    trainer = tb.Trainer(classifier(), batch=1 if form == "arrays" else 32)
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    start = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        trainer.evaluate(data)
        trainer.predict(data)
        time.sleep(5)  # fast machines get here
    assert time.monotonic() - start < 4
    assert trainer.evaluate(digits).samples == 256


def test_other_threads_run_while_it_trains(digits):
    counted = 0
    done = threading.Event()

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.0005)

    thread = threading.Thread(target=count)
    trainer = tb.Trainer(classifier(), threads=1)
    thread.start()
    before = counted
    start = time.monotonic()
    trainer.fit(digits, epochs=60)
    seconds = time.monotonic() - start
    during = counted - before
    done.set()
    thread.join()
    assert during > 100 * seconds


def test_a_trainer_is_one_threads_at_a_time(digits):
    trainer = tb.Trainer(classifier())
    started, errors = threading.Event(), []

    class Signal(tb.Callback):
        def on_step(self, report):
            started.set()
            return not thread.is_alive()

    def other():
        started.wait()
        try:
            trainer.evaluate(digits)
        except RuntimeError as error:
            errors.append(str(error))

    thread = threading.Thread(target=other)
    thread.start()
    trainer.fit(digits, epochs=10000, callbacks=[Signal()])
    thread.join()
    assert errors == ["the trainer is busy in another thread"]


def test_parameters_are_the_trainers_own_memory(digits):
    trainer = tb.Trainer(classifier())
    weight = trainer.parameters["dense.weight"]
    assert np.shares_memory(weight, trainer.parameters["dense.weight"])
    copy = trainer.state_dict()["dense.weight"]
    before = weight.copy()
    trainer.fit(digits)
    assert (weight != before).any()
    np.testing.assert_array_equal(copy, before)
    weight[:] = 0
    trainer.parameters["dense.bias"][:] = np.arange(10)
    np.testing.assert_array_equal(trainer.predict(digits["image"][:3]), [np.arange(10)] * 3)
    del trainer
    assert weight.shape == (10, 784) and (weight == 0).all()


def test_inputs_are_read_where_they_are(digits):
    """An array of the right type is not copied, and nobody holds it when training has ended."""
    import sys

    from thimble._batches import Feeder

    image = digits["image"]
    feeder = Feeder({"image": ("f32", (28, 28, 1))}, {}, with_labels=False)
    assert np.shares_memory(feeder.arrays(image)["image"], image)
    count = sys.getrefcount(image)
    tb.Trainer(classifier()).fit((image, digits["digit"]))
    assert sys.getrefcount(image) == count


def test_freezing_keeps_parameters(digits):
    trainer = tb.Trainer(classifier(frozen="conv.*"))
    before = trainer.state_dict()
    trainer.fit(digits)
    after = trainer.state_dict()
    np.testing.assert_array_equal(before["conv.weight"], after["conv.weight"])
    assert (before["dense.weight"] != after["dense.weight"]).any()
    with pytest.raises(ValueError, match="no parameter matches"):
        classifier(frozen="convolution.*")


def test_validation_patience_and_best(digits, tmp_path):
    trainer = tb.Trainer(classifier(), optimizer=tb.SGD(lr=0.5))
    wrong = {"image": digits["image"], "digit": (digits["digit"] + 1) % 10}
    result = trainer.fit(
        digits, epochs=50, validation_data=wrong, patience=2, best_checkpoint=tmp_path / "best"
    )
    assert result.end == "early" and len(result.epochs) < 50
    best = min(result.epochs, key=lambda e: e.validation.loss)
    trainer.load_weights(tmp_path / "best")
    assert trainer.evaluate(wrong).loss == pytest.approx(best.validation.loss)
    streamed = trainer.fit(digits, validation_data=batches_of(wrong),
                           callbacks=[lambda report: True])
    assert streamed.epochs[0].validation.samples == 256


def test_state_dicts_go_round(digits, tmp_path):
    a = tb.Trainer(classifier(), seed=1)
    a.fit(digits)
    tb.save_safetensors(tmp_path / "w.safetensors", a.state_dict(), {"note": "mine"})
    b = tb.Trainer(classifier(), seed=2)
    b.load_state_dict(tb.load_safetensors(tmp_path / "w.safetensors"))
    assert a.weights_sha256() == b.weights_sha256()
    assert tb.safetensors_metadata(tmp_path / "w.safetensors") == {"note": "mine"}
    state = a.state_dict()
    with pytest.raises(ValueError, match="missing: conv.bias; unexpected: none"):
        b.load_state_dict({k: v for k, v in state.items() if k != "conv.bias"})
    with pytest.raises(ValueError, match=r"\[dense.bias\] has shape \[10\], got \[11\]"):
        b.load_state_dict({**state, "conv.bias": state["conv.bias"] + 1, "dense.bias": np.zeros(11)})
    assert a.weights_sha256() == b.weights_sha256()
    b.load_state_dict({"conv.bias": np.zeros(4)}, strict=False)
    assert (b.parameters["conv.bias"] == 0).all()


def test_resuming_gives_the_bits_of_never_stopping(digits, tmp_path):
    whole = tb.Trainer(classifier())
    whole.fit(digits, epochs=4)
    first = tb.Trainer(classifier())
    first.fit(digits, epochs=2)
    first.save(tmp_path / "c.safetensors")
    second = tb.Trainer(classifier())
    second.resume(tmp_path / "c.safetensors")
    second.fit(digits, epochs=4, initial_epoch=second.epochs)
    assert second.weights_sha256() == whole.weights_sha256()


def test_folders_without_the_files_are_runtime_errors(tmp_path):
    with pytest.raises(RuntimeError, match=str(tmp_path)):
        tb.data.mnist(tmp_path)


def test_progress_is_one_line_an_epoch(digits, capfd):
    trainer = tb.Trainer(classifier())
    trainer.fit(digits, epochs=2, validation_data=digits, progress=True)
    shown = capfd.readouterr().err
    assert "epoch 2/2" in shown and "8/8" in shown and "validation accuracy" in shown
    trainer.fit(digits)
    assert capfd.readouterr().err == ""  # nobody looks


def test_a_sparse_embedding_needs_no_memory_for_rows_that_were_not_read():
    def trainer(rows, sparse):
        g = tb.Graph()
        y = tb.embedding(
            g.input("tokens", (4,), dtype="i32"), embeddings=rows, width=8, sparse=sparse, name="e")
        g.minimize(tb.mean(tb.square(y)))
        return tb.Trainer(g, optimizer=tb.SparseAdam(lr=0.1), batch=2)

    arena = [trainer(rows, True).plan().arena_bytes for rows in (100, 10000)]
    assert arena[0] == arena[1] < trainer(10000, False).plan().arena_bytes
    sparse = trainer(100, True)
    before = sparse.state_dict()["e.weight"]
    sparse.fit({"tokens": np.array([[1, 2, 2, 5], [7, 1, 1, 1]], np.int32)}, epochs=3)
    changed = (sparse.state_dict()["e.weight"] != before).any(axis=1)
    assert np.flatnonzero(changed).tolist() == [1, 2, 5, 7]


def test_optimizers_take_pairs_under_pytorchs_names():
    assert tb.Rprop(etas=(0.4, 1.5))._text() == (
        "rprop:lr=0.01,eta_minus=0.4,eta_plus=1.5,step_size_min=1e-06,step_size_max=50.0,maximize=false")
    assert "epsilon1=0.001,epsilon2=0.5" in tb.Adafactor(eps=(1e-3, 0.5))._text()
