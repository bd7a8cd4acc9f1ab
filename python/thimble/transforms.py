"""Functions of Values as compiled functions of arrays, with gradients if wanted."""

from __future__ import annotations

import contextvars
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _core
from ._arrays import Array, normalized
from ._calls import constant, refuse_parameters, shown
from ._compiled import Cache, run, signature, sources
from ._core import Value
from ._tree import flatten, unflatten

# Arguments of these types choose what is compiled; everything else is an array.
_STATIC = (bool, int, str, bytes, type(None))

_GIVE_THEM = "give them with thimble.functional_call(layer, {name: array, ...}, x, ...)"


class _Traced:
    """A function compiled once for every combination of shapes and static arguments."""

    def __init__(
        self,
        fn: Callable[..., Any],
        argnums: tuple[int, ...],
        has_aux: bool,
        training: bool,
        static: tuple[type, ...] = _STATIC,
        where: str = "jit",
    ) -> None:
        self.static = static
        self.where = where
        self.fn = fn
        self.argnums = argnums
        self.has_aux = has_aux
        self.training = training
        self.cache = Cache()

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """The function's result and the gradients, one per leaf of the wanted arguments."""
        leaves, structure = flatten((args, kwargs))
        is_static = tuple(isinstance(leaf, self.static) or callable(leaf) for leaf in leaves)
        arrays = [
            normalized(leaf, "argument")
            for leaf, static in zip(leaves, is_static)
            if not static
        ]
        static = tuple(
            (type(leaf), leaf, repr(leaf) if isinstance(leaf, float) else "") for leaf, static in zip(leaves, is_static) if static
        )
        key = (structure, is_static, static, signature(arrays))
        function, result, wanted = self.cache.get(
            key, lambda: self._compile(leaves, is_static, structure, arrays)
        )
        outputs = iter(run(function, arrays))
        return unflatten(result, outputs), self._gradients(args, wanted, outputs)

    def _compile(
        self, leaves: list[Any], is_static: tuple[bool, ...], structure: Any, arrays: list[Array]
    ) -> tuple[_core.Function, Any, list[bool]]:
        graph = _core.Graph()
        values = sources(graph, arrays)
        left = iter(values)
        traced = [leaf if static else next(left) for leaf, static in zip(leaves, is_static)]
        args, kwargs = unflatten(structure, iter(traced))
        outputs, result = flatten(self.fn(*args, **kwargs))
        refuse_parameters(graph, self.where, _GIVE_THEM)
        outputs = [
            x if isinstance(x, Value) else constant(graph, x, "result") for x in outputs
        ]
        wanted: list[bool] = []
        by: list[Value] = []
        for number in self.argnums:
            for leaf in flatten(args[number])[0]:
                wanted.append(isinstance(leaf, Value) and leaf.dtype == "f32")
                if wanted[-1]:
                    by.append(leaf)
        if self.argnums and not by:
            raise ValueError("[value_and_grad] no floating-point array among the arguments argnums")
        return _core.Function(graph, values, outputs, by, self.training), result, wanted

    def _gradients(self, args: tuple[Any, ...], wanted: list[bool], outputs: Any) -> Any:
        if not self.argnums:
            return None
        grads = iter([next(outputs) if each else None for each in wanted])
        trees = [unflatten(flatten(args[number])[1], grads) for number in self.argnums]
        return tuple(trees)


def value_and_grad(
    fn: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    *,
    has_aux: bool = False,
    training: bool = True,
) -> Callable[..., tuple[Any, Any]]:
    """A compiled function that returns fn's value and its gradients.

    The result is called with arrays (NumPy, PyTorch, ...) and returns (value, gradients) as NumPy
    arrays. It traces and compiles fn once for every combination of shapes and of arguments that are
    no arrays (int, bool, str, None, functions). fn must therefore not depend on anything else that
    changes.

    Args:
        fn: a plain function of Values that returns one f32 number, or with has_aux a pair of that
            number and anything else made of Values; its arguments may be nested dictionaries, lists
            and tuples of arrays
        argnums: the positional arguments with respect to which gradients are taken; a number gives
            one gradient, a sequence a tuple; each has the structure of its argument, with None for
            arrays of integers
        has_aux: whether fn returns a pair
        training: whether dropout drops and batch_norm uses statistics of the batch
    """
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    traced = _Traced(fn, numbers, has_aux, training, where="value_and_grad")

    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        if any(number >= len(args) for number in numbers):
            raise ValueError(
                f"[value_and_grad] argnums {argnums}, but {len(args)} positional arguments"
            )
        value, grads = traced.run(args, kwargs)
        if has_aux and not (isinstance(value, tuple) and len(value) == 2):
            raise ValueError("[value_and_grad] with has_aux the function returns (loss, aux)")
        return value, grads[0] if isinstance(argnums, int) else grads

    return wrapper


def jit(fn: Callable[..., Any], *, training: bool = False) -> Callable[..., Any]:
    """A plain function of Values as a compiled function of arrays, like value_and_grad without the
    gradients."""
    traced = _Traced(fn, (), False, training)

    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return traced.run(args, kwargs)[0]

    return wrapper


def time_distributed(x: Any, function: Callable[[Value], Value]) -> Any:
    """Applies a function to every step of sequences, with one set of parameters for all steps, like
    Keras's TimeDistributed. The steps become part of the batch.

    Args:
        x: [N, T, ...], a Value or an array
        function: takes a Value [N * T, ...] and returns one with that first dimension
    Returns:
        y: [N, T, ...]
    Example:
        y = tb.time_distributed(video, lambda frame: tb.conv2d(frame, channels=8, name="frames"))
    """
    if isinstance(x, Value):
        return _core.time_distributed(x, function)
    return jit(lambda v: _core.time_distributed(v, function), training=True)(x)


def functional_call(
    function: Callable[..., Any], weights: Mapping[str, Any], *args: Any, **kwargs: Any
) -> Any:
    """Calls function(*args, **kwargs), whose layers take their parameters from weights instead of
    creating them, like torch.func.functional_call.

    On arrays it computes at once, as ops do. On Values, in a Graph or within a function given to
    value_and_grad or jit, it adds to their graph:

        weights = {"r.weight_ih_l0": np.ones((12, 3)), "r.weight_hh_l0": np.ones((12, 4))}
        y, h = tb.functional_call(tb.gru, weights, x, units=4, bias=False, name="r")

    Args:
        function: a layer, or a plain function of layers; layers without a name are called lstm_1, ...
        weights: the parameters by name. Names that no layer takes are an error, and so are missing
            names, except in a Graph for a Trainer, which creates them. Running statistics of norms
            are no parameters: give these to the function
    """
    if not callable(function) or not isinstance(weights, Mapping):
        raise TypeError(
            "[functional_call] expected a layer or function and a dictionary of its weights, got "
            f"{function!r} and {type(weights).__name__}"
        )
    leaves, structure = flatten((args, kwargs))
    values_given = (leaf for leaf in (*weights.values(), *leaves) if isinstance(leaf, Value))
    graph = next((value.graph for value in values_given), None)
    if graph is None:
        return _on_arrays(function)(dict(weights), args, kwargs)
    given = {
        name: w if isinstance(w, Value) else constant(graph, w, name) for name, w in weights.items()
    }
    outer = _given.get()
    every = {**outer[1], **given} if outer is not None and outer[0] is graph else given
    # A layer adds to the graph where an input of its is of it.
    leaves = [
        constant(graph, x, "argument") if hasattr(x, "__array__") and not isinstance(x, Value) else x
        for x in leaves
    ]
    args, kwargs = unflatten(structure, iter(leaves))
    values, nodes = graph._size()
    token = _given.set((graph, every))
    graph._give(every)
    try:
        result = function(*args, **kwargs)
    finally:
        _given.reset(token)
        graph._give(outer[1] if outer is not None and outer[0] is graph else {})
    unknown = graph._unread(given, nodes)
    if unknown:
        known = shown(graph._created(values)["parameter"])
        known += [name for name in given if name not in unknown]
        raise ValueError(
            f"[functional_call] no layer of the function takes {', '.join(unknown)}; its parameters "
            f"are {', '.join(known) or 'none'}"
        )
    return result


# The graph and the weights of the functional_call that is under way.
_given: contextvars.ContextVar[tuple[_core.Graph, dict[str, Value]] | None] = contextvars.ContextVar(
    "given", default=None
)


@functools.lru_cache(maxsize=64)
def _on_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """functional_call of a function on arrays, compiled once for their shapes and the options."""

    def call(weights: dict[str, Value], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return functional_call(function, weights, *args, **kwargs)

    traced = _Traced(call, (), False, True, (*_STATIC, float), "functional_call")
    return lambda *args: traced.run(args, {})[0]
