"""Graphs with their weights in files."""

import json

import numpy as np
import pytest

import thimble as tb

from conftest import classifier


def losses(trainer, digits, epochs=1):
    seen = []

    class Watch(tb.Callback):
        def on_step(self, report):
            seen.append(report.loss)

    trainer.fit(digits, epochs=epochs, callbacks=[Watch()])
    return seen


def test_a_trainer_comes_back_from_a_file(tmp_path, digits):
    trainer = tb.Trainer(classifier(), batch=50, seed=4)
    trainer.fit(digits, epochs=1)
    tb.save_model(trainer, tmp_path / "m.safetensors")
    graph = tb.load_model(tmp_path / "m.safetensors")
    assert graph.text() == classifier().text() and graph.summary() == classifier().summary()
    again = tb.Trainer(graph, batch=50, seed=4)
    assert again.weights_sha256() == trainer.weights_sha256()
    other = tb.Trainer(classifier(), batch=50, seed=4)
    other.load_state_dict(trainer.state_dict())
    assert losses(again, digits) == losses(other, digits)


def test_a_checkpoint_is_a_model_file(tmp_path, digits):
    trainer = tb.Trainer(classifier(), batch=50)
    trainer.fit(digits, epochs=1)
    trainer.save(tmp_path / "c.safetensors")
    resumed = tb.Trainer(tb.load_model(tmp_path / "c.safetensors"), batch=50)
    resumed.resume(tmp_path / "c.safetensors")
    assert losses(resumed, digits) == losses(trainer, digits)


def test_predictors_take_the_weights_of_a_graph(tmp_path, digits):
    trainer = tb.Trainer(classifier(), batch=50)
    tb.save_model(trainer, tmp_path / "m.safetensors")
    images = digits["image"][:7]
    predicted = tb.Predictor(tb.load_model(tmp_path / "m.safetensors"), batch=3).predict(images)
    np.testing.assert_array_equal(predicted, trainer.predict(images))
    with pytest.raises(ValueError, match="the graph has no values for it"):
        tb.Predictor(classifier())


def test_a_graph_is_saved_with_the_first_weights_of_a_seed(tmp_path):
    tb.save_model(classifier(), tmp_path / "m.safetensors", seed=9)
    loaded = tb.Trainer(tb.load_model(tmp_path / "m.safetensors"), seed=1)
    assert loaded.weights_sha256() == tb.Trainer(classifier(), seed=9).weights_sha256()
    weights = tb.load_safetensors(tmp_path / "m.safetensors")
    assert weights.keys() == loaded.parameters.keys()
    for name, array in weights.items():
        np.testing.assert_array_equal(array, loaded.parameters[name])


def test_the_graph_is_json_that_others_can_read(tmp_path):
    tb.save_model(classifier(frozen="conv.*"), tmp_path / "m.safetensors")
    metadata = tb.safetensors_metadata(tmp_path / "m.safetensors")
    assert metadata["format"] == "thimble-model-1"
    graph = json.loads(metadata["graph"])
    assert graph["version"] == 1
    values = {value["name"]: value for value in graph["values"] if value["role"] != "activation"}
    assert values["image"] == {
        "name": "image", "role": "input", "dtype": "f32", "shape": ["N", 28, 28, 1],
    }
    assert values["conv.weight"]["frozen"] is True
    assert "frozen" not in values["dense.weight"]
    assert graph["outputs"][0]["name"] == "logits" and graph["metrics"][0]["name"] == "accuracy"


def test_wrong_files_are_errors(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        tb.load_model(tmp_path / "none.safetensors")
    (tmp_path / "m.circle").write_bytes(b"\x1c\0\0\0CIR0")
    with pytest.raises(RuntimeError, match=r"m\.circle.*import_model reads it, and thimble import makes"):
        tb.load_model(tmp_path / "m.circle")
    tb.save_safetensors(tmp_path / "w.safetensors", {"a": np.zeros(3, np.float32)})
    with pytest.raises(RuntimeError, match="holds weights and no graph"):
        tb.load_model(tmp_path / "w.safetensors")
    tb.save_safetensors(tmp_path / "v.safetensors", {}, {"graph": '{"version": 2}'})
    with pytest.raises(RuntimeError, match="its version is 2, this thimble reads version 1"):
        tb.load_model(tmp_path / "v.safetensors")
    with pytest.raises(TypeError, match="model must be a thimble.Trainer or thimble.Graph"):
        tb.save_model("m", tmp_path / "m.safetensors")
    with pytest.raises(ValueError, match="seed"):
        tb.save_model(classifier(), tmp_path / "m.safetensors", seed=-1)
    with pytest.raises(FileNotFoundError):
        tb.save_model(classifier(), tmp_path / "none" / "m.safetensors")


@pytest.mark.parametrize("dtype", ["f32", "f64", "i8"])
def test_a_trainers_files_hold_what_the_loss_does_not_read(tmp_path, dtype):
    g = tb.Graph()
    x = g.input("x", (4,))
    unread = g.parameter("unread", (3,), tb.init.constant(2.0), dtype=dtype)
    g.minimize(tb.mean(tb.dense(x, units=3, name="head")))
    g.output("sum", tb.dense(x, units=3, name="aux") + tb.cast(unread, "f32"))
    samples = {"x": np.random.default_rng(0).normal(size=(8, 4))}
    trainer = tb.Trainer(g, batch=4)
    trainer.fit(samples)
    wanted = trainer.predict(samples, "sum")
    trainer.save(tmp_path / "checkpoint")
    tb.save_model(trainer, tmp_path / "model")
    for file in ("checkpoint", "model"):
        predictor = tb.Predictor(tb.load_model(tmp_path / file))
        np.testing.assert_array_equal(predictor.predict(samples["x"]), wanted)
    tb.compile_program(g, tmp_path / "program", samples=8, batch=4)
    of_program = tb.load_program(tmp_path / "program")
    of_program.fit(samples)
    tb.save_model(of_program, tmp_path / "again")
    assert set(tb.load_safetensors(tmp_path / "again")) >= {"unread", "aux.weight", "head.weight"}
