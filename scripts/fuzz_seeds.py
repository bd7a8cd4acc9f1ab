"""Writes the files that the fuzzers of programs and checkpoints begin with: tests/fuzz/seeds/program/ and
tests/fuzz/seeds/checkpoint/. They are made anew where the version of the program format changes
(src/program/sections.cpp), and where checkpoints have other entries.
usage: scripts/fuzz_seeds.py     with the Python package of this version installed"""

import json
import re
from pathlib import Path

import numpy as np
import thimble as tb

SEEDS = Path(__file__).resolve().parent.parent / "tests/fuzz/seeds"


def conv() -> tb.Graph:
    """A convolution, dropout and a dense layer."""
    graph = tb.Graph()
    x = tb.relu(tb.conv2d(graph.input("image", (4, 4, 1)), channels=2, kernel=3))
    x = tb.dense(tb.flatten(tb.dropout(x, p=0.2)), units=3)
    graph.minimize(tb.softmax_cross_entropy(x, graph.label("digit")))
    return graph


def dense() -> tb.Graph:
    """A score that holds for all samples of an epoch together."""
    graph = tb.Graph()
    x = tb.dense(graph.input("x", (3,)), units=2)
    y = graph.label("y")
    graph.minimize(tb.softmax_cross_entropy(x, y))
    graph.metric("f1", tb.f1_score(x, y))
    return graph


def swap() -> tb.Graph:
    """Weights that wait in a swap file."""
    graph = tb.Graph()
    x = graph.input("x", (64,))
    for units in (256, 256):
        x = tb.relu(tb.dense(x, units=units))
    graph.minimize(tb.softmax_cross_entropy(tb.dense(x, units=3), graph.label("y")))
    return graph


def words() -> tb.Graph:
    """Rows of a table."""
    graph = tb.Graph()
    x = tb.embedding(graph.input("words", (3,), dtype="i32"), embeddings=5, width=2)
    x = tb.dense(tb.flatten(x), units=3)
    graph.minimize(tb.softmax_cross_entropy(x, graph.label("digit")))
    return graph


def least_budget(graph: tb.Graph, path: Path, **options: object) -> int:
    """The budget that a refusal names: there the step swaps."""
    try:
        tb.compile_program(graph, path, memory_budget=1, **options)
    except ValueError as error:
        return int(re.search(r"budget that works: (\d+)", str(error))[1])
    raise AssertionError("a budget of one byte was kept")


def without_checksums(file: bytes) -> bytes:
    """A safetensors file that is read without comparison, so that changed bytes are read, too."""
    length = int.from_bytes(file[:8], "little")
    header = json.loads(file[8 : 8 + length])
    for entry in ("checksums_of_tensors", "checksum_of_header"):
        del header["__metadata__"][entry]
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + file[8 + length :]


def write_checkpoints(folder: Path) -> None:
    """Checkpoints of the model in tests/fuzz/checkpoint_model.h."""
    graph = tb.Graph()
    error = tb.dense(graph.input("x", (2,)), units=1, name="d") - graph.label("y", (1,), dtype="f32")
    graph.minimize(tb.mean(error * error))
    graph.metric("error", tb.mean(tb.abs(error)))
    trainer = tb.Trainer(graph, optimizer=tb.SGD(lr=0.01, momentum=0.9), batch=2, threads=1)
    trainer.fit({"x": np.arange(1.0, 7.0).reshape(3, 2), "y": np.arange(1.0, 4.0)[:, None]}, epochs=1)
    trainer.save(folder / "checksums")
    whole = (folder / "checksums").read_bytes()
    (folder / "one_epoch").write_bytes(without_checksums(whole))


def main() -> None:
    write_checkpoints(SEEDS / "checkpoint")
    options = {"batch": 2, "threads": 1, "seed": 1}
    for graph, more in (
        (conv, {"optimizer": "sgd:lr=0.1"}),
        (dense, {"optimizer": "sgd:lr=0.1,momentum=0.9", "samples": 3}),
        (swap, {"optimizer": "sgd:lr=0.1", "swap": "always"}),
        (words, {"optimizer": "adamw:lr=0.1", "samples": 3}),
    ):
        path = SEEDS / "program" / graph.__name__
        settings = options | more
        if "swap" in more:
            settings["memory_budget"] = least_budget(graph(), path, **settings)
        tb.compile_program(graph(), path, **settings)


if __name__ == "__main__":
    main()
