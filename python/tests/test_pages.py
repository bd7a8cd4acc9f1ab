"""The code of pages and examples runs, and prints what the pages show."""

import operator
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import thimble as tb

ROOT = pathlib.Path(__file__).resolve().parents[2]


def blocks(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)


def run(page, tmp_path, monkeypatch, count=None):
    """All code of a page, or its first blocks, in order, as one notebook."""
    monkeypatch.chdir(tmp_path)
    names = {}
    code = blocks(page)[:count]
    assert code
    for block in code:
        exec(compile(block, page, "exec"), names)
    return names


def test_the_reference_has_a_heading_for_every_function():
    page = (ROOT / "docs/reference/ops.md").read_text(encoding="utf-8")
    headings = set(re.findall(r"^## (\w+)$", page, re.M))
    assert {name.rstrip("_") for name in tb.ops.__all__} <= headings


def test_the_guide_runs(tmp_path, monkeypatch):
    names = run("docs/guide/python.md", tmp_path, monkeypatch)
    assert names["history"].epochs[-1].validation.metrics["accuracy"] > 0.85
    assert names["scores"].shape == (500, 10)
    assert names["value"] < 0.2
    assert len(names["Notes"].losses) > 0
    assert (tmp_path / "plan.svg").exists()


def test_the_page_of_model_files_runs(tmp_path, monkeypatch):
    assert run("docs/guide/model-files.md", tmp_path, monkeypatch)["scores"].shape == (5, 3)


def test_the_page_of_quantized_networks_runs(tmp_path, monkeypatch):
    names = run("docs/guide/quantization.md", tmp_path, monkeypatch)
    assert names["made"].float_layers == []


def test_the_page_of_transformers_runs(tmp_path, monkeypatch):
    names = run("docs/guide/transformers.md", tmp_path, monkeypatch, count=2)
    assert names["logits"].shape == (8, 6, 20)


def test_the_page_of_transformers_reads_texts(tmp_path, monkeypatch):
    pytest.importorskip("tokenizers")
    names = run("docs/guide/transformers.md", tmp_path, monkeypatch)
    assert names["samples"]["input_ids"].shape[1] == 6
    assert names["tokenizer"].decode(names["ids"]).startswith("the cat ")


def test_the_page_of_models_in_and_out_runs(tmp_path, monkeypatch):
    run("docs/guide/models-in-and-out.md", tmp_path, monkeypatch)
    assert (tmp_path / "scores.tflite").exists()


def test_the_page_of_pytorch_modules_runs(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    assert run("docs/guide/pytorch-modules.md", tmp_path, monkeypatch)["trainer"].steps == 64


def test_the_page_of_sparse_updates_runs(tmp_path, monkeypatch):
    names = run("docs/guide/sparse-updates.md", tmp_path, monkeypatch)
    assert names["chosen"]["bias_last"] == 2


def test_the_page_of_programs_runs(tmp_path, monkeypatch):
    names = run("docs/guide/programs.md", tmp_path, monkeypatch)
    assert names["plan"].planned_peak_bytes <= 1 << 20
    assert names["history"].steps == 26


def test_the_page_for_pytorch_users_names_what_there_is(tmp_path, monkeypatch):
    names = run("docs/guide/from-pytorch.md", tmp_path, monkeypatch)
    assert names["first"][-1].train.loss < names["first"][0].train.loss
    text = (ROOT / "docs/guide/from-pytorch.md").read_text(encoding="utf-8")
    ours = set(re.findall(r"`tb\.([\w.]+)", text))
    assert len(ours) > 150
    for name in ours:
        operator.attrgetter(name)(tb)
    optimizers = {name for name in tb.optimizers.__all__ if name not in ours}
    assert not optimizers, "the page leaves out optimizers"
    torch = pytest.importorskip("torch")
    places = {"nn": torch.nn, "F": torch.nn.functional, "optim": torch.optim}
    for place, name in re.findall(r"`(nn|F|optim)\.([\w.]+)", text):
        operator.attrgetter(name)(places[place])


def test_the_compositions_for_pytorch_users_compute_the_same(tmp_path, monkeypatch, rng):
    torch = pytest.importorskip("torch")
    names = run("docs/guide/from-pytorch.md", tmp_path, monkeypatch)
    indices = rng.integers(0, 9, (4, 5))
    table = rng.normal(size=(9, 3)).astype(np.float32)
    for mode in ("mean", "sum", "max"):
        theirs = torch.nn.functional.embedding_bag(
            torch.from_numpy(indices), torch.from_numpy(table), mode=mode
        )
        ours = names["embedding_bag"](indices, getattr(tb, mode), weight=table)
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
    x = rng.normal(size=(50, 50)).astype(np.float32)
    slopes = tb.jit(names["rrelu"], training=True)(x)[x < 0] / x[x < 0]
    assert slopes.min() >= 0.124 and slopes.max() <= 0.334 and 0.2 < slopes.mean() < 0.26
    theirs = torch.nn.functional.rrelu(torch.from_numpy(x))
    np.testing.assert_allclose(tb.jit(names["rrelu"])(x), theirs, rtol=1e-5, atol=1e-6)


def test_the_guide_lists_every_recipe_and_kind_of_data():
    text = (ROOT / "docs/guide/python.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `tb\.recipes\.(\w+)`", text, re.M)) == set(tb.recipes.names())
    text += (ROOT / "docs/guide/data.md").read_text(encoding="utf-8")
    for name in tb.data.__all__:
        assert name in text


def test_the_page_of_data_runs(tmp_path, monkeypatch):
    names = run("docs/guide/data.md", tmp_path, monkeypatch)
    assert names["photos"].fields["image"] == ("f32", (64, 64, 3))


def test_personalising_helps_as_much_as_the_page_says(tmp_path, monkeypatch):
    names = run("docs/guide/personalise.md", tmp_path, monkeypatch)
    accuracy = {name: names[name].metrics["accuracy"] for name in ("before", "after", "best")}
    assert 0.55 < accuracy["before"] < 0.78
    assert accuracy["after"] > 0.93
    assert accuracy["best"] > 0.97
    assert names["general"].evaluate(names["everybody"]).metrics["accuracy"] > 0.95
    frozen, whole = names["personal"].plan(), names["whole"].plan()
    assert frozen.planned_peak_bytes < whole.planned_peak_bytes
    for layer in ("conv1.weight", "conv2.bias"):
        assert (names["personal"].parameters[layer] == names["general"].parameters[layer]).all()


def run_program(*arguments):
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(tb.__file__).parents[1])}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=environment, check=False
    )


def test_the_example_runs_and_fits_ten_lines():
    source = (ROOT / "examples/digits.py").read_text()
    lines = [line for line in source.splitlines() if line and not line.startswith("import")]
    assert len(lines) <= 10
    done = run_program(str(ROOT / "examples/digits.py"))
    assert done.returncode == 0, done.stderr
    assert float(re.search(r"accuracy ([0-9.]+)", done.stdout)[1]) > 0.85


def test_the_readme_shows_the_example():
    assert blocks("README.md") == [(ROOT / "examples/digits.py").read_text()]


def test_the_docstring_of_the_package_is_the_example():
    code = [line.strip() for line in tb.__doc__.splitlines() if line.startswith("    ")]
    example = (ROOT / "examples/digits.py").read_text()
    for line in code:
        if not line.startswith(("trainer =", "g.input", "image, digit")):
            assert line in example


def test_the_package_keeps_its_own_types(tmp_path):
    pytest.importorskip("mypy")
    package = pathlib.Path(tb.__file__).parent
    checked = subprocess.run(
        # The stubs of the module, which nanobind writes, name generic types without arguments.
        [sys.executable, "-m", "mypy", "--strict", "--disable-error-code", "type-arg",
         "--cache-dir", str(tmp_path), str(package)],
        capture_output=True, text=True, check=False, env={**os.environ, "MYPYPATH": str(package.parent)},
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout


def test_types_are_complete(tmp_path):
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text(
        """
import numpy as np
import thimble as tb

g = tb.Graph()
x = g.input("x", (8, 8, 1))
y: tb.Value = tb.relu(2.0 * tb.conv2d(x, channels=3, kernel=(3, 3), padding="same") + 1)
g.minimize(tb.mean(y[:, 0] @ np.ones((3, 3), np.float32)))
shape: tuple[int, ...] = tb.relu(np.ones(3, np.float32)).shape
trainer = tb.Trainer(g, optimizer=tb.AdamW(lr=1e-3, betas=(0.8, 0.9)), clip=tb.GradientClip(1.0))


class Mine(tb.Callback):
    def on_step(self, report: tb.StepReport) -> bool:
        return report.loss < 0.1


result = trainer.fit({"x": np.ones((4, 8, 8, 1))}, callbacks=[Mine(), lambda e: e.epoch > 1])
loss: float = result.epochs[0].train.loss
text: str = trainer.plan().plot().svg
schedule: tb.Schedule = tb.Schedule.constant(0.1)
value, grads = tb.value_and_grad(lambda a: tb.sum(a))(np.ones(3))
"""
    )
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(program),
         str(ROOT / "examples/digits.py")],
        capture_output=True, text=True, check=False,
        env={**os.environ, "MYPYPATH": str(pathlib.Path(tb.__file__).parents[1])},
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout
    wrong = tmp_path / "wrong.py"
    wrong.write_text('import thimble as tb\ntb.Trainer(3, batch="many")\n')
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(wrong)],
        capture_output=True, text=True, check=False,
        env={**os.environ, "MYPYPATH": str(pathlib.Path(tb.__file__).parents[1])},
    )  # fmt: skip
    assert checked.stdout.count("error:") == 2
