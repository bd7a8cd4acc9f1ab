"""Messages of trainers: about wrong arguments, about nothing to do, about their work."""

import pathlib
import re

import numpy as np
import pytest
from conftest import classifier

import thimble as tb


def test_fit_trains_more_epochs_and_counts_on_from_an_initial_epoch(digits):
    trainer = tb.recipes.mlp().trainer()
    assert [e.epoch for e in trainer.fit(digits, epochs=2).epochs] == [0, 1]
    assert [e.epoch for e in trainer.fit(digits, epochs=2).epochs] == [2, 3]
    rest = trainer.fit(digits, epochs=6, initial_epoch=trainer.epochs)
    assert [e.epoch for e in rest.epochs] == [4, 5] and trainer.epochs == 6
    assert trainer.fit(digits, epochs=6, initial_epoch=trainer.epochs).epochs == []
    straight = tb.recipes.mlp().trainer()
    straight.fit(digits, epochs=6)
    assert straight.weights_sha256() == trainer.weights_sha256()


def test_the_package_says_its_version():
    project = pathlib.Path(__file__).parents[2] / "pyproject.toml"
    assert f'\nversion = "{tb.__version__}"\n' in project.read_text()


@pytest.mark.parametrize(
    "call,message",
    [
        (lambda g: tb.Trainer(3), r"^\[Trainer\] graph must be a thimble.Graph, got 3$"),
        (lambda g: tb.Trainer(g, batch="many"), r"^\[Trainer\] batch must be a whole number"),
        (lambda g: tb.Trainer(g, batch=2.5), r"^\[Trainer\] batch must be a whole number"),
        (lambda g: tb.Trainer(g, optimizer=3), r"^\[Trainer\] optimizer must be one such as"),
        (lambda g: tb.Trainer(g).fit({}, epochs=1.5), r"^\[fit\] epochs must be a whole number"),
        (lambda g: tb.Trainer(g).fit({}, initial_epoch="1"), r"initial_epoch must be a whole number"),
        (lambda g: tb.Trainer(g, clip="1"), r"^\[Trainer\] clip must be a thimble.GradientClip or"),
        (lambda g: tb.Trainer(g, schedule=3), r"^\[Trainer\] schedule must be .*, got 3$"),
        (lambda g: tb.Trainer(g, groups=tb.ParamGroup("*")), r"groups must be a list of thimble.P"),
        (lambda g: tb.Trainer(g).fit({}, callbacks=tb.Callback()), r"callbacks must be a list of"),
        (lambda g: tb.Trainer(g).fit({}, callbacks=[3]), r"callbacks must hold callbacks .*, got 3"),
        (lambda g: tb.Trainer(g).evaluate(None), r"^\[data\] expected a Dataset, arrays .* got None"),
        (lambda g: tb.Predictor(None, {}), r"^\[Predictor\] graph must be a thimble.Graph"),
    ],
)
def test_arguments_of_the_wrong_type_are_named(call, message):
    with pytest.raises(TypeError, match=message):
        call(tb.recipes.mlp().graph)


def test_reports_show_themselves(digits):
    steps = []

    class Note(tb.Callback):
        def on_step(self, report):
            steps.append(repr(report))

    result = tb.Trainer(classifier()).fit(digits, validation_data=digits, callbacks=[Note()])
    assert steps[1].startswith("step 1: loss ")
    text = r"finished after 8 steps\nepoch 0: loss [0-9.]+, accuracy .* samples; validation loss .* samples"
    assert re.fullmatch(text, repr(result))


def test_a_label_that_is_no_class_is_named():
    g = tb.Graph()
    logits = tb.dense(g.input("x", (2,)), units=3)
    g.minimize(tb.softmax_cross_entropy(logits, g.label("kind")))
    trainer = tb.Trainer(g, batch=4)
    data = {"x": np.ones((6, 2), np.float32), "kind": np.array([0, 1, 2, 0, 1, 7], np.int32)}
    said = r"\[kind\] holds 7 in sample 2 of batch 2; softmax_cross_entropy takes 0 to 2"
    with pytest.raises(ValueError, match=said):
        trainer.evaluate(data)
    with pytest.raises(ValueError, match=r"\[kind\] holds 7"):
        trainer.fit(data)


def test_outputs_without_a_part_for_each_sample_are_refused():
    g = tb.Graph()
    x = g.input("x", (2,))
    g.minimize(tb.mean(tb.dense(x, units=1)))
    g.output("least", tb.min(x, axes=(0,)))
    trainer = tb.Trainer(g, batch=4)
    for model in (trainer, tb.Predictor(g, dict(trainer.parameters))):
        with pytest.raises(ValueError, match=r'the output "least" has the shape \[2\], but'):
            model.predict(np.ones((6, 2), np.float32))


def test_a_trainer_shows_itself():
    shown = repr(tb.Trainer(classifier(), batch=8))
    assert re.fullmatch(r"<thimble.Trainer of 7,890 parameters, inputs image .*, batch 8: 0 steps, .*>", shown)
    with pytest.raises(ValueError, match="threads must be 0 .* or more, got -1"):
        tb.Trainer(classifier(), threads=-1)


def test_wrong_shapes_and_operands_are_type_errors_in_words():
    g = tb.Graph()
    x = g.input("x", (3,))
    for wrong in (lambda: g.input("b", 3), lambda: g.label("y", "f32"), lambda: g.input("b", None)):
        with pytest.raises(TypeError, match=r"shape must be a tuple of whole numbers such as"):
            wrong()
    for wrong in (lambda: x + None, lambda: None - x, lambda: x @ "a"):
        with pytest.raises(TypeError, match=r"unsupported operand type\(s\)"):
            wrong()
