"""Writes the program files that the fuzzer of programs begins with: tests/fuzz/seeds/program/. They
are made anew where the version of the format changes (src/program/sections.cpp).
usage: scripts/program_seeds.py     with the Python package of this version installed"""

import re
from pathlib import Path

import thimble as tb

SEEDS = Path(__file__).resolve().parent.parent / "tests/fuzz/seeds/program"


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


def main() -> None:
    options = {"batch": 2, "threads": 1, "seed": 1}
    for graph, more in (
        (conv, {"optimizer": "sgd:lr=0.1"}),
        (dense, {"optimizer": "sgd:lr=0.1,momentum=0.9", "samples": 3}),
        (swap, {"optimizer": "sgd:lr=0.1", "swap": "always"}),
        (words, {"optimizer": "adamw:lr=0.1", "samples": 3}),
    ):
        path = SEEDS / graph.__name__
        settings = options | more
        if "swap" in more:
            settings["memory_budget"] = least_budget(graph(), path, **settings)
        tb.compile_program(graph(), path, **settings)


if __name__ == "__main__":
    main()
