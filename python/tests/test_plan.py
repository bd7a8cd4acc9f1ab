"""The memory plan."""

import re
import xml.etree.ElementTree as ET

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
    assert "dense.weight" in plan.table(20)
    assert all(b.offset + b.bytes <= plan.arena_bytes for b in plan.buffers)
    assert {step.op for step in plan.steps} >= {"conv2d", "adamw_update"}


def test_the_plan_is_the_contract(plan):
    tb.Trainer(classifier(), batch=32, memory_budget=plan.planned_peak_bytes)
    with pytest.raises(ValueError, match="Nearest budget that works") as refused:
        tb.Trainer(classifier(), batch=32, memory_budget=1)
    nearest = int(re.search(r"works: (\d+) bytes", str(refused.value))[1])
    tight = tb.Trainer(classifier(), batch=32, memory_budget=nearest)
    assert tight.plan().planned_peak_bytes <= nearest <= plan.planned_peak_bytes


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
