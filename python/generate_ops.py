"""Writes ops.py, the functions of all ops and layers, and optimizers.py, from the definitions in
C++.

usage: generate_ops.py FOLDER      FOLDER holds the built module _core; the files are written there.
Runs at every build: neither an op nor an optimizer needs a line of Python.
"""

import ast
import importlib.util
import inspect
import keyword
import pathlib
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).parent / "thimble"))
from _specs import arguments, is_layer, keeps_statistics, main_part, takes_none, weights_of  # noqa: E402

from example_lines import python_example  # noqa: E402

HEADER = '''"""The ops and layers of thimble. Written by generate_ops.py from the op definitions: do not edit.

Every function takes Values of a graph and adds to that graph, or arrays (NumPy, PyTorch, ...) and
computes at once. Images are [N, H, W, C], weights [out, kh, kw, in].

In signatures Tensor is a Value or an array, and what comes out is of the kind of the first input; Other
is one of these or a number; Pair is a number or (height, width); Padding a number, (height, width), (top,
bottom, left, right) or "same"; Ints a number or a sequence of numbers.
"""
# mypy: disable-error-code="no-any-return"
# ruff: noqa

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, TypeVar

from numpy.typing import NDArray

from ._calls import ValuesAndIndices, call as _call, call_layer as _call_layer
from ._core import Initializer, Value
from ._written import {written}

# A Value, or an array: what comes out is of the kind of the first input.
Tensor = TypeVar("Tensor", Value, NDArray[Any])
Other: TypeAlias = "Value | NDArray[Any] | float"
Pair: TypeAlias = "int | tuple[int, int]"
Padding: TypeAlias = "int | tuple[int, int] | tuple[int, int, int, int] | Literal['same']"
Ints: TypeAlias = "int | Sequence[int]"

'''

# Written by hand, in a form of their own.
WRITTEN_FILE = pathlib.Path(__file__).parent / "thimble" / "_written.py"
WRITTEN = [
    node.name
    for node in ast.parse(WRITTEN_FILE.read_text()).body
    if isinstance(node, ast.FunctionDef)
]

# The meanings of the names of types in signatures, behind the explanations of arguments.
TYPE_DOCS = {
    "Pair": "a number or (height, width)",
    "Padding": 'a number, (height, width), (top, bottom, left, right), or "same"',
    "Ints": "a number or a sequence of numbers",
}

TYPES = {
    "bool": "bool",
    "int": "int",
    "float": "float",
    "pair": "Pair",
    "padding": "Padding",
    "ints": "Ints",
    "shape": "Ints",
    "dtype": "str",
    "str": "str",
    "initializer": "Initializer | None",
}


OPTIMIZER_HEADER = '''"""The optimizers. Written by generate_ops.py from their definitions: do not edit."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Literal

from ._optimizer import Optimizer

'''

# Settings that PyTorch takes as one, as a tuple.
PAIRS = {
    "betas": ("beta1", "beta2"),
    "etas": ("eta_minus", "eta_plus"),
    "step_sizes": ("step_size_min", "step_size_max"),
    "eps": ("epsilon1", "epsilon2"),
}


def load_core(folder):
    path = next(p for p in folder.iterdir() if p.name.startswith("_core.") and p.suffix != ".pyi")
    spec = importlib.util.spec_from_file_location("_core", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def spelled(name):
    return name + "_" if keyword.iskeyword(name) else name


def type_of(option):
    if option["kind"] == "choice":
        return "Literal[" + ", ".join(f'"{choice}"' for choice in option["choices"]) + "]"
    return TYPES[option["kind"]]


def literal(value):
    return f'"{value}"' if isinstance(value, str) else repr(value)


def is_required(option, spec):
    """An empty shape as a default means: must be given, unless an input may stand for it."""
    optional = any(argument["optional"] for argument in arguments(spec))
    return option["kind"] == "shape" and option["default"] == () and not optional


def options_of(name, spec):
    """All options of an op and its layer, each once; those that are inputs too are left out."""
    inputs = {argument["name"] for argument in arguments(spec)}
    options = {}
    for part in ("function", "op"):
        if part not in spec or (part == "op" and "function" in spec and not is_layer(spec)):
            continue
        for option in spec[part]["options"]:
            if option["name"] not in inputs:
                options.setdefault(option["name"], option)
    return list(options.values())


def parameters_of(name, spec):
    """The lines of the signature."""
    lines = []
    layer = is_layer(spec)
    inputs = arguments(spec)
    switches = {o["name"] for o in spec.get("function", {}).get("options", [])}
    for i, argument in enumerate(inputs):
        label = argument["name"]
        last = i == len(inputs) - 1
        if last and main_part(spec)["variadic_inputs"]:
            lines.append(f"{label}: Sequence[Tensor]")
        elif i == 0:
            lines.append(f"{label}: Tensor" + (" | None" if argument["optional"] else ""))
        elif argument["weight"] and label in switches:
            lines.append(f"{label}: Other | bool | None = True")
        elif argument["weight"] or argument["optional"] or has_default(lines):
            lines.append(f"{label}: Other | None = None")
        else:
            lines.append(f"{label}: Other")
    options = options_of(name, spec)
    if layer and options:
        lines.append("*")
    for option in sorted(options, key=lambda o: not is_required(o, spec) and not layer):
        if is_required(option, spec) and not layer and not has_default(lines):
            lines.append(f"{spelled(option['name'])}: {type_of(option)}")
        else:
            default = literal(option["default"])
            none = " | None" if takes_none(option, options) else ""
            lines.append(f"{spelled(option['name'])}: {type_of(option)}{none} = {default}")
    return lines


def has_default(lines):
    return any(" = " in line for line in lines)


def result_type(spec):
    part = main_part(spec)
    if part["many_outputs"]:
        return "list[Tensor]"
    count = len(part["outputs"])
    if [each["name"] for each in part["outputs"]] == ["values", "indices"]:
        return "ValuesAndIndices"
    return "Tensor" if count == 1 else "tuple[" + ", ".join(["Tensor"] * count) + "]"


def entry(name, text):
    return textwrap.wrap(f"{name}: {text}", 94, initial_indent=" " * 8, subsequent_indent=" " * 12)


def functional_example(name, spec):
    """How a layer is called on arrays."""
    part = main_part(spec)
    weights = ", ".join(f'"l.{p["name"]}": ...' for p in part["parameters"][:2])
    more = ", ..." if len(part["parameters"]) > 2 else ""
    inputs = [a["name"] for a in arguments(spec) if not a["weight"] and not a["optional"]]
    required = [f"{option}=..." for option in part["required"]]
    given = ", ".join([*inputs, *required, 'name="l"'])
    return f"tb.functional_call(tb.{name}, {{{weights}{more}}}, {given})"


def signatures(specs):
    """The signature of each function, to bind arguments to."""
    found = {}
    for name, spec in specs.items():
        scope = {}
        parameters = ", ".join(parameters_of(name, spec))
        exec(f"from __future__ import annotations\ndef function({parameters}): pass", scope)
        found[name] = inspect.signature(scope["function"])
    return found


def binds(example, takes):
    """Whether every call of an op in a line of Python is one that its function takes."""
    for node in ast.walk(ast.parse(example)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if getattr(node.func.value, "id", None) != "tb":
            continue
        try:
            takes[node.func.attr].bind(*node.args, **{k.arg: k.value for k in node.keywords})
        except TypeError:
            return False
    return True


def option_entry(option):
    """The meaning of an option and the values that it takes."""
    takes = TYPE_DOCS.get(TYPES.get(option["kind"], ""))
    return entry(spelled(option["name"]), option["doc"] + (f" ({takes})" if takes else ""))


def docstring(name, spec, takes):
    part = main_part(spec)
    # The op alone may have other inputs and outputs than the function, which are then no business
    # of users.
    op = spec.get("op") if is_layer(spec) or part is spec.get("op") else None
    lines = textwrap.wrap((op or part)["doc"], 94, subsequent_indent=" " * 4, initial_indent=" " * 4)
    if is_layer(spec):
        lines += ["", "    Without weights it is a layer of a Graph, which creates these parameters:"]
        for argument in part["parameters"]:
            lines += entry("<name>." + argument["name"], argument["doc"])
        if weights_of(spec):
            lines += ["    With weights it is the same function of them."]
        if not keeps_statistics(spec):
            lines += ["    On arrays functional_call gives the parameters by these names:"]
            lines += textwrap.wrap(functional_example(name, spec), 94, initial_indent=" " * 8,
                                   subsequent_indent=" " * 12)
        if op and part["doc"] != op["doc"]:
            lines[0:0] = textwrap.wrap(part["doc"], 94, initial_indent=" " * 4,
                                       subsequent_indent=" " * 4) + [""]
    lines += ["", "    Args:"]
    for argument in arguments(spec):
        note = ", optional" if argument["optional"] else ""
        types = "" if argument["takes"] == "floating" else f" ({argument['takes']})"
        lines += entry(argument["name"], argument["doc"] + note + types)
    for option in options_of(name, spec):
        lines += option_entry(option)
    lines += ["    Returns:"]
    for output in part["outputs"]:
        lines += entry(output["name"], output["doc"])
    shown = part["example"] or spec.get("op", part)["example"]
    example = python_example(name, shown, takes)
    if not example or not binds(example, takes):  # C++ spells it otherwise
        inputs = [argument["name"] for argument in arguments(spec) if not argument["optional"]]
        example = f"{part['outputs'][0]['name']} = tb.{spelled(name)}({', '.join(inputs)})"
    if binds(example, takes):
        lines += ["    Example:", "        " + example]
    if "op" in spec and not spec["op"]["differentiable"]:
        lines += ["    No gradient flows through it."]
    text = "\n".join(lines).strip()
    return '    """' + text.replace("\\", "\\\\") + '\n    """'


def function(name, spec, takes):
    parameters = parameters_of(name, spec)
    signature = f"def {spelled(name)}({', '.join(parameters)}) -> {result_type(spec)}:"
    if len(signature) > 100:
        body = "".join(f"    {line},\n" for line in parameters)
        signature = f"def {spelled(name)}(\n{body}) -> {result_type(spec)}:"
    call = "_call_layer" if is_layer(spec) else "_call"
    inputs = "".join(f"{argument['name']}, " for argument in arguments(spec))
    options = ", ".join(
        f'"{option["name"]}": {spelled(option["name"])}' for option in options_of(name, spec)
    )
    return (
        f"{signature}\n{docstring(name, spec, takes)}\n"
        f'    return {call}("{name}", ({inputs.strip()}), {{{options}}})\n'
    )


def class_name(name, spec):
    return spec["type"] or name.capitalize()


def torch_settings(spec):
    """The settings under PyTorch's names, and which of them stand for two of ours."""
    settings = [dict(option) for option in spec["options"]]
    pairs = {}
    for name, parts in PAIRS.items():
        both = [s for s in settings if s["name"] in parts]
        if len(both) != 2:
            continue
        pairs[name] = parts
        settings[settings.index(both[0])] = {
            "name": name,
            "type": "tuple[float, float]",
            "default": tuple(s["default"] for s in both),
            "doc": f"{both[0]['doc']}; {both[1]['doc']}",
        }
        settings.remove(both[1])
    for setting in settings:
        setting["name"] = {"epsilon": "eps"}.get(setting["name"], setting["name"])
    return settings, pairs


def optimizer(name, spec):
    settings, pairs = torch_settings(spec)
    lines = textwrap.wrap(spec["doc"], 94, initial_indent=" " * 4, subsequent_indent=" " * 4)
    lines += ["", "    Args:"]
    for setting in settings:
        lines += entry(setting["name"], setting["doc"])
    doc = "\n".join(lines).strip()
    fields = "".join(
        f"    {s['name']}: {s.get('type') or type_of(s)} = {literal(s['default'])}\n" for s in settings
    )
    return (
        f"@dataclasses.dataclass(frozen=True)\nclass {class_name(name, spec)}(Optimizer):\n"
        f'    """{doc}\n    """\n\n    _name: ClassVar[str] = "{name}"\n'
        f"    _pairs: ClassVar[dict[str, tuple[str, str]]] = {pairs!r}\n\n{fields}"
    )


def write_optimizers(folder, specs):
    classes = {name: class_name(name, spec) for name, spec in specs.items()}
    names = sorted(specs, key=lambda name: classes[name])
    text = OPTIMIZER_HEADER
    text += "__all__ = [\n" + "".join(f'    "{classes[n]}",\n' for n in names) + "]\n\n\n"
    text += "\n\n".join(optimizer(name, specs[name]) for name in names)
    (folder / "optimizers.py").write_text(text)


def main(folder):
    core = load_core(folder)
    write_optimizers(folder, core.reflect_optimizers())
    specs = core.reflect()
    names = sorted(specs)
    text = HEADER.replace("{written}", ", ".join(WRITTEN))
    text += "__all__ = [\n" + "".join(f'    "{spelled(name)}",\n' for name in names) + "]\n\n\n"
    takes = signatures(specs)
    text += "\n\n".join(function(name, specs[name], takes) for name in names if name not in WRITTEN)
    (folder / "ops.py").write_text(text)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
