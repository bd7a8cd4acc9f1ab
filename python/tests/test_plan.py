"""The memory plan."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from conftest import classifier

import thimble as tb


@pytest.fixture(scope="module")
def plan():
    return tb.Trainer(classifier(), batch=32).plan()


def test_adds_up_and_prints(plan):
    persistent = plan.parameter_bytes + plan.state_bytes + plan.constant_bytes
    assert persistent + plan.arena_bytes <= plan.planned_peak_bytes
    assert plan.lower_bound_bytes <= plan.planned_peak_bytes
    assert plan.parameter_bytes == 4 * (4 * 9 + 4 + 784 * 10 + 10)
    assert "planned peak of a step, batch 32" in repr(plan)
    assert "image" in plan.table(20)
    assert all(b.offset + b.bytes <= plan.arena_bytes for b in plan.buffers)
    assert {step.op for step in plan.steps} >= {"conv2d", "adamw_update"}


def test_the_plan_is_the_contract(plan):
    enough = plan.planned_peak_bytes + plan.input_pipeline_bytes + plan.reserved_bytes
    tb.Trainer(classifier(), batch=32, memory_budget=enough)
    with pytest.raises(ValueError, match="Nearest budget that works") as refused:
        tb.Trainer(classifier(), batch=32, memory_budget=1)
    nearest = int(re.search(r"works: (\d+) bytes", str(refused.value))[1])
    tight = tb.Trainer(classifier(), batch=32, memory_budget=nearest)
    taken = tight.plan()
    held = taken.planned_peak_bytes + taken.input_pipeline_bytes + taken.reserved_bytes
    assert held <= nearest <= enough


def test_plots_every_buffer(plan, tmp_path):
    picture = plan.plot(tmp_path / "plan.svg")
    root = ET.parse(tmp_path / "plan.svg").getroot()
    titles = [e.text for e in root.iter("{http://www.w3.org/2000/svg}title")]
    assert len(titles) == len(plan.buffers)
    assert any("image input" in title for title in titles)
    assert picture._repr_svg_() == (tmp_path / "plan.svg").read_text()
    plan.plot(tmp_path / "plan.html")
    page = (tmp_path / "plan.html").read_text()
    assert "<canvas" in page
    assert "DATA.epochs.length ? 'training run' : 'memory plan'" in page  # the page's subtitle
    with pytest.raises(ValueError, match=".svg or .html"):
        plan.plot(tmp_path / "plan.png")


def test_is_made_without_a_trainer(plan):
    alone = tb.plan_training(classifier(), batch=32)
    assert alone.planned_peak_bytes == plan.planned_peak_bytes
    assert (alone.fits, alone.budget_bytes, alone.batch, alone.micro_batches) == (True, 0, 32, 1)
    tight = tb.plan_training(classifier(), batch=32, memory_budget="1 KiB")
    assert not tight.fits
    assert tight.budget_bytes == 1024
    assert tight.nearest_feasible_bytes > 1024
    assert all(strategy.name and repr(strategy) for strategy in tight.strategies)
    assert {buffer.made for buffer in plan.buffers} <= {"first", "recomputed", "fetched"}
    with pytest.raises(TypeError, match="momory_budget"):
        tb.plan_training(classifier(), momory_budget=3)


def test_says_what_moments_of_8_bits_save():
    whole = tb.plan_training(classifier())
    coded = tb.plan_training(classifier(), optimizer=tb.AdamW(state_bits=8))
    assert whole.saved_state_bytes == 0
    assert coded.saved_state_bytes == whole.state_bytes - coded.state_bytes > 0
    row = next(s for s in coded.strategies if s.name == "optimizer state in 8 bits")
    assert not row.lossless and row.saved_bytes > 0


@pytest.mark.parametrize(
    "size, count", [(1536, 1536), ("1536", 1536), ("1.5KiB", 1536), (".5 mib", 1 << 19), ("2 kB", 2000),
                    ("1GiB", 1 << 30), (None, 0)],
)
def test_budgets_have_units(size, count):
    assert tb.plan_training(classifier(), memory_budget=size).budget_bytes == count


def test_batches_in_parts_take_less_and_learn_the_same():
    whole = tb.Trainer(classifier(), batch=30, optimizer=tb.SGD(lr=0.1), seed=3)
    parts = tb.Trainer(classifier(), batch=30, optimizer=tb.SGD(lr=0.1), seed=3, micro_batches=4)
    assert parts.plan().micro_batches == 4
    assert parts.plan().activation_peak_bytes < whole.plan().activation_peak_bytes / 2
    digits = tb.data.digits(100)
    losses = [t.fit(digits, epochs=2).epochs[-1].train.loss for t in (whole, parts)]
    assert losses[0] == pytest.approx(losses[1], abs=1e-5)


@pytest.mark.parametrize(
    "options, error",
    [
        ({"memory_budget": "much"}, r"\[memory_budget\] expected bytes or a text"),
        ({"memory_budget": "1.2.3 MiB"}, r"\[memory_budget\] expected bytes or a text"),
        ({"memory_budget": -1}, r"\[memory_budget\] must be 1 byte to 8 EiB, got -1; None"),
        ({"memory_budget": 0}, r"must be 1 byte .* got 0; None"),
        ({"memory_budget": "0"}, r"must be 1 byte .* got '0'"),
        ({"memory_budget": "0.5"}, r"must be 1 byte .* got '0.5'"),
        ({"memory_budget": "9" * 400}, r"\[memory_budget\] must be 1 byte to 8 EiB, got '999"),
        ({"memory_budget": 10**25}, r"\[memory_budget\] must be 1 byte to 8 EiB, got 1000"),
        ({"memory_budget": "99999999999999999999"}, r"\[memory_budget\] must be 1 byte to 8 EiB"),
        ({"input_pipeline_bytes": 0}, r"\[input_pipeline_bytes\] must be 1 byte"),
        ({"accumulate": 10**25}, r"\[accumulate\] expected less than 2\*\*63, got 1000"),
        ({"micro_batches": 10**25}, r"\[micro_batches\] expected less than 2\*\*63"),
        ({"seed": -1}, r"\[seed\] expected 0 or more, got -1"),
        ({"seed": 1 << 64}, r"\[seed\] expected less than 2\*\*64"),
        ({"threads": 10**25}, r"\[threads\] expected less than 2\*\*31"),
        ({"swap": "always"}, r"\[swap\] does nothing without a memory_budget"),
        ({"swap_dir": "/tmp"}, r"\[swap_dir\] does nothing without a memory_budget"),
        ({"micro_batches": "auto"}, r"\[micro_batches\] .* a memory_budget"),
        ({"memory_budget": "1 GiB", "swap_dir": "/proc"}, r"cannot be made in /proc: .* swap_dir"),
        ({"swap": "often"}, r"\[swap\] must be"),
        ({"saved_activations": "i8"}, r"\[saved_activations\] must be"),
        ({"integer_rounding": "up"}, r'\[integer_rounding\] must be "stochastic" or "residual"'),
        ({"error_type": "i4"}, r'\[error_type\] must be "f32" or "i8"'),
        ({"micro_batches": 0}, r"\[micro_batches\] must be 1 or more"),
        ({"micro_batches": 33}, 'the 32 samples of a batch, or "auto"'),
        ({"input_pipeline_bytes": "x"}, r"\[input_pipeline_bytes\] expected bytes"),
    ],
)
def test_refuses_wrong_options(options, error):
    with pytest.raises(ValueError, match=error):
        tb.Trainer(classifier(), batch=32, **options)


def test_refuses_options_of_the_wrong_type():
    for options in ({"memory_budget": 1.5}, {"micro_batches": "few"}, {"split_batch_norm": 1}, {"swap": 3},
                    {"quantization_aware_scaling": 1}, {"integer_rounding": True}, {"error_type": 8},
                    {"swap_dir": 3}, {"swap_dir": b"/tmp"}):
        with pytest.raises(TypeError, match=rf"\[Trainer\] {next(iter(options))} must be"):
            tb.Trainer(classifier(), **options)


def test_swaps_to_a_folder_with_the_same_bits(tmp_path):
    digits = tb.data.digits(64)
    free = tb.Trainer(classifier(), seed=1)
    result = free.fit(digits, epochs=2)
    assert (result.swap_read_bytes, result.swap_written_bytes, result.swap_stall_ms) == (0, 0, 0)
    need = tb.plan_training(classifier(), memory_budget=1, swap="always").nearest_feasible_bytes
    assert need < free.plan().planned_peak_bytes + free.plan().input_pipeline_bytes
    tight = tb.Trainer(classifier(), seed=1, memory_budget=need, swap="always", swap_dir=tmp_path)
    assert tight.plan().swap_written_bytes > 0
    assert "swap" in [strategy.name for strategy in tight.plan().strategies]
    steps = []

    class Steps(tb.Callback):
        def on_step(self, report):
            steps.append(report)

    result = tight.fit(digits, epochs=2, callbacks=[Steps()])
    assert result.swap_read_bytes > 0 and result.swap_written_bytes > 0
    assert sum(step.swap_stall_ms for step in steps) == pytest.approx(result.swap_stall_ms)
    assert sum(step.swap_busy_ms for step in steps) == pytest.approx(result.swap_busy_ms)
    assert tight.plan().swap_busy_ms > 0
    assert all(step.swap_busy_ms > 0 for step in steps)
    expected = sum(step.swap_expected_stall_ms for step in steps)
    assert 0 < expected == pytest.approx(result.swap_expected_stall_ms)
    assert tight.weights_sha256() == free.weights_sha256()
    assert list(tmp_path.iterdir()) == []  # the file has no name


def test_says_why_there_is_no_swap_file(monkeypatch):
    monkeypatch.setenv("TMPDIR", "/no/such/folder")
    plan = tb.plan_training(classifier(), memory_budget=1)
    assert not plan.fits and "cannot be made in /no/such/folder" in plan.no_swap
    assert plan.no_swap in " ".join(plan.table().split())
    assert tb.plan_training(classifier(), memory_budget=1, swap="never").no_swap == ""


def test_parameters_in_the_swap_file_are_read_and_loaded():
    digits = tb.data.digits(64)
    options = {"seed": 1, "swap": "always"}
    least = tb.plan_training(classifier(), memory_budget=1, **options).nearest_feasible_bytes
    trainer = tb.Trainer(classifier(), memory_budget=least, **options)
    in_file = [name for name, array in trainer.parameters.items() if not array.flags.writeable]
    assert "dense.weight" in in_file
    weight = trainer.parameters["dense.weight"]
    with pytest.raises(ValueError, match="read-only"):
        weight[:] = 0
    free = tb.Trainer(classifier(), seed=1)
    assert trainer.weights_sha256() == free.weights_sha256()
    trainer.fit(digits)
    assert (trainer.parameters["dense.weight"] != weight).any()
    trainer.load_state_dict(free.state_dict())
    assert trainer.weights_sha256() == free.weights_sha256()
    with pytest.raises(TypeError, match=r"\[dense.bias\] has elements of float32, got complex64"):
        trainer.load_state_dict({"dense.weight": weight + 1, "dense.bias": np.zeros(10, "c8")}, strict=False)
    assert trainer.weights_sha256() == free.weights_sha256()


@pytest.mark.parametrize("budget", [False, True])
def test_samples_are_read_straight_into_every_program(budget):
    digits = tb.data.digits(70)  # whose last batch is smaller
    options = {"batch": 32, "seed": 1}
    free = tb.Trainer(classifier(), **options)
    wanted = free.fit(digits, validation_data=digits), free.predict(digits)
    if budget:  # that leaves no memory to read ahead
        least = tb.plan_training(classifier(), memory_budget=1, **options)
        options["memory_budget"] = least.nearest_feasible_bytes
    direct = tb.Trainer(classifier(), **options)
    result = direct.fit(digits, validation_data=digits, prefetch=0)
    assert result.epochs[0].validation.loss == wanted[0].epochs[0].validation.loss
    assert direct.evaluate(digits).loss == result.epochs[0].validation.loss
    np.testing.assert_array_equal(direct.predict(digits), wanted[1])


def test_a_budget_chooses_micro_batches():
    alone = tb.plan_training(classifier(), memory_budget=1, swap="never").nearest_feasible_bytes
    plan = tb.plan_training(
        classifier(), memory_budget=int(0.9 * alone), swap="never", micro_batches="auto"
    )
    assert plan.fits
    assert plan.micro_batches > 1


def test_a_scheme_trains_a_part_in_less_memory(tmp_path):
    scheme = {"bias_last": 1, "weights": {"conv": 1}}
    part = tb.Trainer(classifier(), batch=32, scheme=scheme).plan()
    whole = tb.Trainer(classifier(), batch=32).plan()
    assert part.trained_parameters == 4 * 9 + 10
    assert part.parameters == whole.trained_parameters == whole.parameters
    assert part.read_only_bytes == part.parameter_bytes - 4 * part.trained_parameters
    assert part.planned_peak_bytes < whole.planned_peak_bytes
    path = tmp_path / "scheme.json"
    path.write_text('{"bias_last": 1}', encoding="utf-8")
    assert tb.plan_training(classifier(), batch=32, scheme=path).trained_parameters == 10
    for wrong, error in ({"bias": 1}, "bias"), ({"bias_last": 9}, "only 2 layers"), ({"a": {1}}, "JSON"):
        with pytest.raises(ValueError, match=error):
            tb.Trainer(classifier(), scheme=wrong)
    with pytest.raises(TypeError, match="scheme must be a dictionary"):
        tb.Trainer(classifier(), scheme=3)
