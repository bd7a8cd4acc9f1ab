"""Examples of ops, lines of C++, in Python."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from example_lines import python_example  # noqa: E402

FUNCTIONS = {"accuracy", "cast", "concat", "conv2d", "gru", "pool", "topk"}


@pytest.mark.parametrize(
    ("name", "cpp", "python"),
    [
        ("neg", "auto y = -x;", "y = -x"),
        ("div", "auto y = (a + 1.0) / b;", "y = (a + 1.0) / b"),
        ("conv2d", "auto y = conv2d(x, {.channels = 8, .padding = {1, 2}});",
         "y = tb.conv2d(x, channels=8, padding=[1, 2])"),
        ("gru", "auto [y, h] = gru(x, {.units = 2 * units});", "y, h = tb.gru(x, units=2 * units)"),
        ("concat", "auto y = concat({a, b}, {.axis = -1});", "y = tb.concat([a, b], axis=-1)"),
        ("cast", "auto y = cast(x, DType::f32);", 'y = tb.cast(x, "f32")'),
        ("pool", "auto y = pool(x, {.padding = Padding::same(), .ceil = true});",
         'y = tb.pool(x, padding="same", ceil=True)'),
        ("topk", "auto best = topk(x, {.k = 5}).indices;", "best = tb.topk(x, k=5).indices"),
        ("accuracy", 'g.metric("a.b", accuracy(x, g.label("digit")));',
         'g.metric("a.b", tb.accuracy(x, g.label("digit")))'),
        ("pow", "auto y = topk(x);", ""),
        ("pow", "", ""),
    ],
)  # fmt: skip
def test_a_line_of_cpp_becomes_one_of_python(name, cpp, python):
    assert python_example(name, cpp, FUNCTIONS) == python


@pytest.mark.parametrize(
    "cpp", ["auto y conv2d(x);", "auto y = conv2d(x", "auto y = conv2d(x, {.k 3});", "a b", "auto y = x ? a : b;"]
)
def test_what_is_no_such_line_is_refused(cpp):
    with pytest.raises(SyntaxError):
        python_example("conv2d", cpp, FUNCTIONS)
