"""Contribution analysis and the search of a sparse update."""

from __future__ import annotations

import math
import pathlib
import tempfile
from typing import Any

import pytest

import thimble as tb

OPTIONS: dict[str, Any] = {"optimizer": tb.SGD(lr=0.05), "batch": 8, "seed": 1}


def trained() -> tb.Graph:
    g = tb.Graph()
    image, digit = g.input("image", (28, 28, 1)), g.label("digit")
    h = tb.relu(tb.conv2d(image, channels=4, kernel=5, stride=3, name="c1"))
    h = tb.relu(tb.dense(tb.flatten(h), units=8, name="d1"))
    logits = tb.dense(h, units=10, name="d2")
    g.minimize(tb.softmax_cross_entropy(logits, digit))
    g.metric("accuracy", tb.accuracy(logits, digit))
    trainer = tb.Trainer(g, optimizer=tb.Adam(lr=3e-3), batch=16, seed=2)
    trainer.fit(tb.data.digits(200), epochs=1)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "model.safetensors"
        tb.save_model(trainer, file)
        return tb.load_model(file)


def samples(split: str) -> tb.Dataset:
    return tb.data.digits(64, seed=5, split=split)


def test_analysis_search_and_verification(tmp_path: pathlib.Path) -> None:
    model = trained()
    train, test = samples("train"), samples("test")
    seen: list[tb.AnalyzeProgress] = []
    parts = tb.analyze(
        model, train, test, ratios=[0.5, 1], cache=tmp_path / "cache", on_progress=seen.append, **OPTIONS
    )
    assert (parts.metric, parts.last_layer) == ("accuracy", "d2")
    assert [one.last for one in parts.biases] == [2, 3]
    assert [(one.layer, one.ratio) for one in parts.weights] == [("c1", 1.0), ("d1", 0.5), ("d1", 1.0)]
    assert parts.biases[0].gain == parts.biases[0].score - parts.base
    assert parts.weights[1].gain == parts.weights[1].score - parts.biases[0].score
    assert [one.done for one in seen] == list(range(1, 7))
    assert seen[-1].total == 6 and seen[-1].score == parts.weights[-1].score
    parts.save(tmp_path / "parts.json")
    assert tb.Contributions.load(tmp_path / "parts.json") == parts

    own = {"bias_last": 1, "weights": {"d2": 1, "c1": 1}}
    found = tb.search_scheme(
        model, parts, memory_budget="1 MiB", candidates=1, given=[own], **OPTIONS
    )
    assert found.is_best and found.score is None
    assert found.bytes == tb.plan_training(model, scheme=found.scheme, **OPTIONS).planned_peak_bytes
    assert math.isnan(found.others[0].gain)
    instructions = tb.predict_instructions(model, scheme=found.scheme, **OPTIONS)
    assert 1e5 < instructions < tb.predict_instructions(model, **OPTIONS) * 1.001
    # The scheme within a limit of instructions, too, and on another core.
    limited = tb.search_scheme(
        model, parts, memory_budget="1 MiB", instructions=instructions, core="m4", **OPTIONS
    )
    assert tb.predict_instructions(model, core="m4", scheme=limited.scheme, **OPTIONS) <= instructions

    best = tb.verify_scheme(model, found, train, test, cache=tmp_path / "cache", **OPTIONS)
    schemes = [best, *best.others]
    assert len(schemes) == 1 + len(found.others)
    scores = [one.score for one in schemes if one.score is not None]
    assert len(scores) == len(schemes)
    assert scores == sorted(scores, reverse=True)
    trainer = tb.Trainer(model, scheme=best.scheme, **OPTIONS)
    trainer.fit(train, epochs=1)
    assert trainer.evaluate(test).metrics["accuracy"] == best.score


def test_what_goes_wrong_is_said(tmp_path: pathlib.Path) -> None:
    model = trained()
    train, test = samples("train"), samples("test")
    few: dict[str, Any] = {"ratios": [1], "layers": ["d1"], "most_biases": 1}
    parts = tb.analyze(model, train, test, **few, **OPTIONS)
    found = tb.search_scheme(model, parts, memory_budget=1 << 20, **OPTIONS)
    with pytest.raises(ValueError, match=r'epochs "1" \(now "2"\)'):
        tb.verify_scheme(model, found, train, test, epochs=2, **OPTIONS)
    with pytest.raises(ValueError, match="d2 alone takes"):
        tb.search_scheme(model, parts, memory_budget=1000, **OPTIONS)
    with pytest.raises(ValueError, match="one of m4, m7, m55"):
        tb.search_scheme(model, parts, memory_budget=1 << 20, core="m0", **OPTIONS)
    with pytest.raises(ValueError, match="stopped after 1 of"):
        tb.analyze(model, train, test, on_progress=lambda now: True, **few, **OPTIONS)

    def fail(now: tb.AnalyzeProgress) -> None:
        raise KeyError(now.done)

    with pytest.raises(KeyError):
        tb.analyze(model, train, test, on_progress=fail, **few, **OPTIONS)
    with pytest.raises(TypeError, match="must be a thimble.Trainer or thimble.Graph"):
        tb.analyze(3, train, test)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        tb.Contributions.load(tmp_path / "none.json")
