"""Fixtures that the tests share."""

import signal

import numpy as np
import pytest

import thimble as tb


@pytest.fixture(autouse=True)
def ctrl_c():
    """Ctrl-C raises KeyboardInterrupt, also where the shell started us in the background and so had
    it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def classifier(units=10, frozen=None):
    """A small convolutional classifier of 28x28 images."""
    g = tb.Graph()
    image, digit = g.input("image", (28, 28, 1)), g.label("digit")
    h = tb.relu(tb.conv2d(image, channels=4, kernel=3, stride=2, padding=1, name="conv"))
    logits = tb.dense(tb.flatten(h), units=units, name="dense")
    g.minimize(tb.softmax_cross_entropy(logits, digit))
    g.metric("accuracy", tb.accuracy(logits, digit))
    g.output("logits", logits)
    if frozen:
        g.freeze(frozen)
    return g


@pytest.fixture(scope="session")
def digits():
    """256 built-in digits: {"image": [256, 28, 28, 1], "digit": [256]}."""
    return tb.data.digits(256, seed=3).arrays()
