"""How the descriptions of an op and of the layer of the same name become one function. Imports nothing,
because the build uses it, too."""

from __future__ import annotations

from typing import Any

Spec = dict[str, Any]


def is_layer(spec: Spec) -> bool:
    """Whether it can create parameters."""
    return bool(spec.get("function", {}).get("parameters"))


def weights_of(spec: Spec) -> list[str]:
    """The parameters of a layer that its function takes as arguments; none if it does not take all."""
    weights = [each["name"] for each in arguments(spec) if each["weight"]]
    created = spec.get("function", {}).get("parameters", [])
    every = "op" in spec or all(each["name"] in weights for each in created)
    return weights if every else []


def options_of_weights(part: Spec) -> list[str]:
    """The options of a layer that given weights leave without a meaning."""
    return [
        option["name"]
        for option in part["options"]
        if option["name"] in part["of_parameters"] or option["kind"] == "initializer"
    ]


# Options that PyTorch takes as None, and the switch that None stands for.
NONE_IS = {"momentum": "cumulative"}


def takes_none(option: Spec, options: list[Spec]) -> bool:
    """Whether None has a meaning of its own for an option among these."""
    return any(other["name"] == NONE_IS.get(option["name"]) for other in options)


# The option of layers that says whether they have running statistics.
TRACKS = "track_running_stats"


def states_of(spec: Spec) -> list[str]:
    """The running statistics of a layer."""
    created = spec.get("function", {}).get("parameters", [])
    return [each["name"] for each in created if each["state"]]


def keeps_statistics(spec: Spec) -> bool:
    """Whether a layer may have running statistics, which only a Trainer keeps."""
    return bool(states_of(spec))


def main_part(spec: Spec) -> dict[str, Any]:
    """The description that users see. The op's own may have outputs that only its gradient reads."""
    part: dict[str, Any] = spec["function"] if "function" in spec else spec["op"]
    return part


def arguments(spec: Spec) -> list[dict[str, Any]]:
    """The tensors that the function takes, in order. weight: a layer creates it if it is not given."""
    function = main_part(spec)["inputs"]
    if not is_layer(spec):
        return [{**each, "weight": False} for each in function]
    if "op" in spec:
        names = {each["name"] for each in function}
        merged = list(spec["op"]["inputs"])
        known = {each["name"] for each in merged}
        merged += [each for each in function if each["name"] not in known]
        return [{**each, "weight": each["name"] not in names} for each in merged]
    created = {each["name"] for each in spec["function"]["parameters"]}
    return [{**each, "weight": each["name"] in created} for each in function]
