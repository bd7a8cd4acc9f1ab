"""Adapters that are wrong on purpose: were one not reported, the suite would prove nothing."""
import os
from typing import Any

import cases
import thimble as tb
import trajectories
from registry import Adapter, Refused
from runner import Job


def _wrong_value(x: Any, out: Any = None) -> Any:
    return tb.exp(x) * 1.0001


def _wrong_shape(x: Any) -> Any:
    return tb.exp(x)[None]


def _wrong_type(x: Any) -> Any:
    return tb.cast(tb.exp(x), "i32")


def _wrong_gradient(x: Any) -> Any:
    return tb.stop_gradient(tb.exp(x)) + (x - tb.stop_gradient(x)) * 1.0


def _no_gradient(x: Any) -> Any:
    return tb.stop_gradient(tb.exp(x))


def _too_many(x: Any) -> Any:
    return tb.exp(x), x


def _missing(x: Any) -> Any:
    return tb.exp(x, base=2)


def _excuse(x: Any) -> Any:
    raise Refused("not now")


def _crash(x: Any) -> Any:
    os.abort()


def _module(module: Any, weights: Any, x: Any) -> Any:
    return tb.dense(x, weights["weight"], weights["bias"] * 1.001 if "bias" in weights else None)


def _optimizer(**settings: Any) -> Any:
    return tb.Adam(**{"lr": 1e-3, **settings, "eps": 1e-3})


def jobs() -> list[Job]:
    """One for each canary: the ops on the samples of exp, the module on those of nn.Linear, the
    optimizer on those of Adam."""
    calls = [_wrong_value, _wrong_shape, _wrong_type, _wrong_gradient, _no_gradient, _too_many, _missing,
             _excuse, _crash]
    made = []
    for call in calls:
        adapter = Adapter("exp", (call.__name__.strip("_"),), call, 1, True, None, True)
        made.append(Job("canary", adapter, cases.run_op))
    adapter = Adapter("nn.Linear", ("module",), _module, 1, True, None, True)
    made.append(Job("canary", adapter, cases.run_module))
    adapter = Adapter("Adam", ("optimizer",), _optimizer, 1, True, None, False)
    return [*made, Job("canary", adapter, trajectories.run_optimizer)]
