"""The functions that those generated for ops and layers call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from . import _core
from ._arrays import Array, LossyError, argument_of, is_number, normalized, to_dtype
from ._compiled import Cache, run, signature, sources
from ._core import Value
from ._specs import (
    NONE_IS, TRACKS, arguments, keeps_statistics, main_part, options_of_weights, states_of, weights_of,
)
from ._types import chosen_types, declared, taken_types

SPECS: dict[str, dict[str, Any]] = _core.reflect()

_eager = Cache()


class ValuesAndIndices(NamedTuple):
    """Elements and their indices: the result of topk, as in PyTorch."""

    values: Any
    indices: Any


def constant(graph: _core.Graph, x: Any, what: str, argument: str = "the argument") -> Value:
    """A number or an array as a constant of the graph."""
    array = normalized(x, what, argument)
    return graph._constant(array)


def _reshaped(value: Value, shape: tuple[int, ...]) -> Any:
    from . import ops  # which imports this file

    return ops.reshape(value, shape)


def _without_batch(
    spec: dict[str, Any], values: Sequence[Value | None]
) -> list[Value | None] | None:
    """The inputs as batches of one sample if the first lacks the batch axis; else None."""
    rank = spec["inputs"][0]["batch_rank"]
    first = values[0]
    # An open batch (-1) is there already: something else is missing.
    if rank == 0 or first is None or len(first.shape) != rank - 1 or first.shape[0] < 0:
        return None
    batches: list[Value | None] = []
    for argument, value in zip(spec["inputs"], values):
        one = value is not None and len(value.shape) == argument["batch_rank"] - 1
        batches.append(_reshaped(value, (1, *value.shape)) if one and value is not None else value)
    return batches


def _build(kind: str, name: str, values: Sequence[Value | None], options: dict[str, Any]) -> Any:
    build = _core.build_op if kind == "op" else _core.build_function
    batches = _without_batch(SPECS[name][kind], values)
    outputs = build(name, list(batches or values), options)
    seen = main_part(SPECS[name])
    if batches is not None:
        outputs = [
            _reshaped(y, y.shape[1:]) if argument["batch_rank"] > 0 else y
            for y, argument in zip(outputs, SPECS[name][kind]["outputs"])
        ]
    if seen["many_outputs"]:
        return outputs
    wanted = outputs[: len(seen["outputs"])]
    if [each["name"] for each in seen["outputs"]] == list(ValuesAndIndices._fields):
        return ValuesAndIndices(*wanted)
    return wanted[0] if len(wanted) == 1 else tuple(wanted)


def shown(parameters: Mapping[str, tuple[int, ...]]) -> list[str]:
    """Names with shapes, as errors have them."""
    return [f"{name} f32{list(shape)}" for name, shape in parameters.items()]


def refuse_parameters(graph: _core.Graph, where: str, advice: str) -> None:
    """A function of arrays has nowhere to keep parameters: an error names those it would create."""
    created = graph._created()
    names = shown(created["parameter"])
    if names:
        raise ValueError(f"[{where}] arrays are missing for {', '.join(names)}; {advice}")
    if created["state"]:
        raise ValueError(
            f"[{where}] what it keeps between batches ({', '.join(created['state'])}) is a Trainer's "
            f"alone: {_ways_to_give_state(where)}"
        )


def _ways_to_give_state(where: str) -> str:
    """How a layer with statistics is used on arrays, if it can be."""
    if where in SPECS and not weights_of(SPECS[where]):
        return "describe it in a Graph and train that"
    taken = "gamma, beta, running_mean, running_var"
    return f"on arrays call the norm itself with these arguments: tb.batch_norm(x, {taken})"


def _ways_to_give_weights(name: str) -> str:
    """How a layer gets its weights where it is called on arrays."""
    ways = []
    if not keeps_statistics(SPECS[name]):
        ways.append(f"with thimble.functional_call(thimble.{name}, {{name: array, ...}}, x, ...)")
    if weights_of(SPECS[name]):
        ways.append("as the arguments " + ", ".join(weights_of(SPECS[name])))
    return "give them " + " or ".join(ways)


def _argument_names(kind: str, name: str, count: int) -> list[str]:
    """Of so many inputs; those of a list share the last name."""
    spec = SPECS[name][kind]
    return [spec["inputs"][declared(spec, i)]["name"] for i in range(count)]


def _converted(
    spec: dict[str, Any], name: str, given: Sequence[Any], arrays: Sequence[Value | Array | None],
    types: Sequence[str],
) -> list[Array]:
    """The arrays among the inputs in the types chosen for them. Where that would change their numbers,
    an error names the argument and the types that the op takes of it."""
    converted: list[Array] = []
    for i, (one, x) in enumerate(zip(given, arrays)):
        if x is None or isinstance(x, Value):
            continue
        try:
            converted.append(to_dtype(x, types[len(converted)], name, is_number(one)))
        except LossyError as error:
            argument = spec["inputs"][declared(spec, i)]["name"]
            taken = ", ".join(taken_types(spec, arrays, types, i))
            raise LossyError(
                name, f"{argument} {error.reason}. {argument} may be {taken} here: cast it to one of them"
            ) from error
    return converted


def _evaluate(kind: str, name: str, given: Sequence[Any], options: dict[str, Any]) -> Any:
    """Runs an op on arrays at once, compiled at first use for their shapes and types."""
    arrays = [
        None if x is None else argument_of(x, name, argument)
        for x, argument in zip(given, _argument_names(kind, name, len(given)))
    ]
    present = [array for array in arrays if array is not None]
    # With their text, because 0.0 == -0.0.
    frozen = tuple((k, tuple(v) if isinstance(v, list) else v, repr(v)) for k, v in options.items())
    pattern = tuple(array is None for array in arrays)
    are_numbers = tuple(map(is_number, given))

    spec = SPECS[name][kind]

    def compile_it() -> tuple[_core.Function, type, list[str]]:
        types = chosen_types(spec, arrays, are_numbers)
        graph = _core.Graph()
        inputs = sources(graph, _converted(spec, name, given, arrays, types))
        left = iter(inputs)
        values = [None if missing else next(left) for missing in pattern]
        result = _build(kind, name, values, options)
        refuse_parameters(graph, name, _ways_to_give_weights(name))
        outputs = list(result) if isinstance(result, (list, tuple)) else [result]
        return _core.Function(graph, inputs, outputs, [], True), type(result), types

    key = (kind, name, signature(present), pattern, are_numbers, frozen)
    function, shape, types = _eager.get(key, compile_it)
    results = run(function, _converted(spec, name, given, arrays, types))
    if shape is ValuesAndIndices:
        return shape(*results)
    return shape(results) if shape in (list, tuple) else results[0]


def _apply(kind: str, name: str, given: Sequence[Any], options: dict[str, Any]) -> Any:
    if all(x is None for x in given):
        raise ValueError(f"[{name}] the first input is missing")
    graph = next((x.graph for x in given if isinstance(x, Value)), None)
    if graph is None:
        return _evaluate(kind, name, given, options)
    inputs = [
        x if x is None or isinstance(x, Value) else argument_of(x, name, argument)
        for x, argument in zip(given, _argument_names(kind, name, len(given)))
    ]
    spec = SPECS[name][kind]
    types = chosen_types(spec, inputs, list(map(is_number, given)))
    converted = iter(_converted(spec, name, given, inputs, types))
    values = [
        x if x is None or isinstance(x, Value) else graph._constant(next(converted)) for x in inputs
    ]
    return _build(kind, name, values, options)


def _only(
    spec: dict[str, Any], name: str, options: dict[str, Any], reason: str, refused: Sequence[str] = ()
) -> dict[str, Any]:
    """The options that an op or a layer has and are not refused; all others must have their
    defaults."""
    known = {field["name"] for field in spec["options"]} - set(refused)
    everything = {
        field["name"]: field["default"]
        for each in SPECS[name].values()
        for field in each["options"]
    }
    for option, value in options.items():
        if option not in known and value is not None and value != everything[option]:
            raise ValueError(f"[{name}] {option} {reason}")
    return {option: value for option, value in options.items() if option in known}


def call(name: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """An op or a function that creates no parameters."""
    spec = SPECS[name]
    kind = "function" if "function" in spec else "op"
    if spec[kind]["variadic_inputs"]:
        if isinstance(inputs[-1], Value) or hasattr(inputs[-1], "shape"):
            raise TypeError(f"[{name}] expected a list of tensors: {name}([a, b])")
        inputs = (*inputs[:-1], *inputs[-1])
    return _apply(kind, name, inputs, options)


def _with_switches(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options with the switches on that a None stands for."""
    for option, switch in NONE_IS.items():
        if option not in options or options[option] is not None:
            continue
        if switch not in options:
            raise ValueError(f"[{name}] {option} must be a number, got None")
        options = {**options, switch: True}
    return options


def call_layer(name: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A layer, or the same function of given weights if any is given."""
    spec = SPECS[name]
    declared = arguments(spec)
    options = _with_switches(name, options)
    given: dict[str, Any] = {}
    for argument, value in zip(declared, inputs):
        if argument["weight"] and isinstance(value, bool):
            options = {**options, argument["name"]: value}  # whether the layer has this parameter
            value = None
        given[argument["name"]] = value
    weights = [argument for argument in declared if argument["weight"]]
    if all(given[weight["name"]] is None for weight in weights):
        wanted = _only(spec["function"], name, options, "is not an option of the layer")
        tensors = [given[argument["name"]] for argument in spec["function"]["inputs"]]
        return _apply("function", name, tensors, wanted)
    if "op" in spec and not weights[0]["optional"] and given[weights[0]["name"]] is None:
        raise ValueError(f"[{name}] {weights[0]['name']} is missing, but other weights are given")
    options = {k: v for k, v in options.items() if k not in given}
    if options.get(TRACKS) is False and not any(given.get(state) is not None for state in states_of(spec)):
        del options[TRACKS]  # what is said already by leaving them out
    kind = "op" if "op" in spec else "function"
    # Where there is no op, the layer's function takes the weights, and its options with them.
    reason = "belongs to the layer; leave it out with weights"
    wanted = _only(spec[kind], name, options, reason, options_of_weights(spec[kind]))
    tensors = [given[argument["name"]] for argument in spec[kind]["inputs"]]
    return _apply(kind, name, tensors, wanted)


__all__ = ["Array", "call", "call_layer", "constant", "refuse_parameters", "shown"]
