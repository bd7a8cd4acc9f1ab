"""A program file trains to the bits of its graph."""

import numpy as np
import pytest

import thimble as tb


def model():
    g = tb.Graph()
    image, digit = g.input("image", (6, 6, 1)), g.label("digit")
    h = tb.relu(tb.conv2d(image, channels=4, kernel=3))
    logits = tb.dense(tb.flatten(h), units=5)
    g.minimize(tb.softmax_cross_entropy(logits, digit))
    g.metric("accuracy", tb.accuracy(logits, digit))
    g.output("probabilities", tb.softmax(logits))
    return g


def samples(count):
    rng = np.random.default_rng(0)
    return {
        "image": rng.random((count, 6, 6, 1), dtype=np.float32),
        "digit": rng.integers(0, 5, count, dtype=np.int32),
    }


OPTIONS = [
    {},
    {"optimizer": tb.SGD(lr=0.1, momentum=0.9), "ema_decay": 0.9, "clip": 1.0},
    {"memory_budget": "2 MiB", "swap": "always"},
    {"precision": "bf16", "schedule": tb.Schedule.cosine_annealing(0.01, decay_steps=20)},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_trains_to_the_same_bits(tmp_path, options):
    path = tmp_path / "step.thimble"
    options = {"batch": 8, "threads": 1, "seed": 3, **options}
    plan = tb.compile_program(model(), path, samples=21, test_samples=11, predict=True, **options)
    program, whole = tb.load_program(path, swap_dir=tmp_path), tb.Trainer(model(), **options)
    assert plan.planned_peak_bytes == program.plan().planned_peak_bytes
    results = [
        t.fit(samples(21), epochs=2, validation_data=samples(11), shuffle=True, progress=False)
        for t in (program, whole)
    ]
    assert results[0].epochs[1].train.loss == results[1].epochs[1].train.loss
    assert program.weights_sha256() == whole.weights_sha256()
    assert np.array_equal(program.predict(samples(11)), whole.predict(samples(11)))
    assert program.batch == 8 and "probabilities" not in repr(program)


def test_begins_with_the_weights_of_a_loaded_model(tmp_path):
    trainer = tb.Trainer(model(), batch=8, seed=7)
    trainer.fit(samples(16), progress=False)
    tb.save_model(trainer, tmp_path / "model")
    graph = tb.load_model(tmp_path / "model")
    tb.compile_program(graph, tmp_path / "step.thimble", batch=8)
    program = tb.load_program(tmp_path / "step.thimble")
    assert program.weights_sha256() == trainer.weights_sha256()
    # A model saved from a program is a model file.
    tb.save_model(program, tmp_path / "again")
    again = tb.Trainer(tb.load_model(tmp_path / "again"), batch=8)
    assert again.weights_sha256() == trainer.weights_sha256()


def test_names_what_it_cannot_do(tmp_path):
    path = tmp_path / "step.thimble"
    tb.compile_program(model(), path, batch=8)
    program = tb.load_program(path)
    with pytest.raises(ValueError, match="1 samples at once"):
        program.fit(samples(9), progress=False)
    with pytest.raises(ValueError, match="gradients alone.*a trainer of the graph, which save_model writes"):
        program.gradients(samples(8))
    with pytest.raises(FileNotFoundError):
        tb.load_program(tmp_path / "none")
    with pytest.raises(ValueError, match="samples"):
        tb.compile_program(model(), path, samples=-1)
    with pytest.raises(ValueError, match="is a function"):
        tb.compile_program(model(), path, schedule=lambda step: 0.1)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(RuntimeError, match="cut off"):
        tb.load_program(path)
