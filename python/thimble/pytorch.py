"""Modules of PyTorch as graphs, and trained weights back into them. PyTorch is imported when needed."""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import operator
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from . import _aten_layers, _aten_more, _aten_places, _aten_shapes, _core  # noqa: F401
from ._arrays import Array, as_array
from ._aten import CONVERSIONS, OPSET, TYPES, WHOLE, Call, UnsupportedError, Writer, size_of, type_name
from ._aten_refused import REFUSED, REFUSED_OTHERS
from ._core import Graph
from .model_files import load_model, save_model
from .predictor import Predictor
from .trainer import Trainer

# For each module that was imported: its weights as (name in the graph, shape, order of its axes).
Layout = tuple[str, tuple[int, ...], tuple[int, ...]]
_LAYOUTS: WeakKeyDictionary[Any, dict[str, Layout]] = WeakKeyDictionary()


def from_torch(module: Any, example: Any = None, kwargs: Mapping[str, Any] | None = None) -> Graph:
    """The graph of a torch.nn.Module, with its weights: what torch.export records of forward, ready to
    be trained. Images are [N, H, W, C] at inputs and outputs, parameters have the module's names, and
    dimension 0 of every input is the open batch. Batch norms keep their running statistics and dropout
    is kept, whether the module is in training mode or not; a submodule alone in eval mode is frozen
    so. Tied weights are one parameter, and those without requires_grad are frozen. What the module
    computes from its buffers alone is computed once. Inputs have the names of forward's arguments; one
    result is "output", several are "output_0", ..., or have the keys of a dictionary.

    Args:
        module: of float32 weights; or a torch.export.ExportedProgram with a dynamic batch
        example: the arguments of forward: a tensor, a tuple, or a dictionary by name; a batch of one
            will do
        kwargs: keywords of forward beside a tensor or a tuple; forward may take them as **kwargs

    Raises ValueError naming each ATen operator that thimble does not import, with the line and the
    submodule that call it.
    """
    torch = _torch("from_torch")
    name = type(module).__name__
    if isinstance(module, torch.export.ExportedProgram):
        program = module
    elif isinstance(module, torch.nn.Module):
        program = _exported(torch, module, example, kwargs)
    else:
        raise TypeError(f"[from_torch] module must be a torch.nn.Module, got {name}")
    table = torch.export.default_decompositions()
    for each in WHOLE:
        operator, overload = each.split(".")
        packet = getattr(torch.ops.aten, operator, None)
        if packet is not None and overload in packet.overloads():
            table.pop(getattr(packet, overload), None)
    translation = _Translation(torch, name, program.run_decompositions(table))
    graph, layouts = translation.graph()
    names = {initializer: (made, shape, tuple(order)) for initializer, made, shape, order in layouts}
    _LAYOUTS[module] = {name: names[first] for name, first in translation.tied.items() if first in names}
    for name, first in translation.tied.items():
        if name == first and name in names and translation.is_frozen(name):
            graph.freeze(names[name][0])
    return graph


def to_torch(model: Trainer | Predictor | Graph | str | os.PathLike[str], module: Any, example: Any = None,
             kwargs: Mapping[str, Any] | None = None) -> None:
    """Copies weights and running statistics back into the module that from_torch made a graph of. The
    counters num_batches_tracked of batch norms stay as they are: thimble does not count batches.
    PyTorch reads them only where momentum is None.

    Args:
        model: a Trainer, a Predictor, a graph with weights, or a model file or checkpoint
        module: the module, or another one of the same class and sizes together with an example
        example, kwargs: as for from_torch

    Raises ValueError where the module was not imported, or a weight has another shape: that of a head
    that was replaced, say.
    """
    torch = _torch("to_torch")
    if example is not None or kwargs or module not in _LAYOUTS:
        if example is None and not kwargs:
            raise ValueError("[to_torch] the module was not given to from_torch: give an example, too")
        from_torch(module, example, kwargs)
    if isinstance(model, Graph):
        with tempfile.TemporaryDirectory() as folder:
            save_model(model, os.path.join(folder, "model.safetensors"))
            model = Predictor(load_model(os.path.join(folder, "model.safetensors")))
    elif isinstance(model, (str, os.PathLike)):
        model = Predictor(load_model(model))
    state = model.parameters
    given = module.state_dict
    targets: Mapping[str, Any] = given if isinstance(given, Mapping) else given()
    made = {name: _back(state, name, layout, targets[name]) for name, layout in _LAYOUTS[module].items()
            if layout[0] in state}
    if not made:
        raise ValueError("[to_torch] the model has no weight of the module")
    with torch.no_grad():
        for name, array in made.items():
            targets[name].copy_(torch.from_numpy(array))


def _back(state: Mapping[str, Array], name: str, layout: Layout, target: Any) -> Array:
    """A weight in the module's order of axes."""
    made, shape, order = layout
    array = as_array(state[made])
    wide = tuple(shape[axis] for axis in order)
    if array.size != int(np.prod(wide)) or array.size != target.numel():
        raise ValueError(
            f"[to_torch] {name} has shape {list(array.shape)} in the model, which does not fit the module's "
            f"{list(target.shape)}")
    turned = array.reshape(wide).transpose(np.argsort(order)) if order else array
    return np.array(turned, order="C").reshape(tuple(target.shape))


def _torch(where: str) -> Any:
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        raise ImportError(f"[{where}] PyTorch is not installed: pip install torch") from error


def _exported(torch: Any, module: Any, example: Any, kwargs: Mapping[str, Any] | None) -> Any:
    """The module as in training, its batch left open."""
    if example is None and not kwargs:
        raise ValueError("[from_torch] an example is missing: the arguments of forward")
    tree = torch.utils._pytree

    def widened(x: Any) -> Any:
        # A batch of one would become part of the program.
        is_one = isinstance(x, torch.Tensor) and x.dim() > 0 and x.shape[0] == 1
        return torch.cat([x, x]) if is_one else x

    def dims(x: Any) -> Any:
        return {0: torch.export.Dim.AUTO} if isinstance(x, torch.Tensor) and x.dim() > 0 else None

    if kwargs is not None and not isinstance(kwargs, Mapping):
        raise TypeError(f"[from_torch] kwargs must be a dictionary of forward's keywords, got {type(kwargs).__name__}")
    if isinstance(example, dict) and kwargs:
        raise TypeError("[from_torch] the example is a dictionary of keywords: leave out kwargs, or give a tuple")
    keywords = {**(example if isinstance(example, dict) else {}), **(kwargs or {})}
    arguments = () if isinstance(example, dict) or example is None else (
        example if isinstance(example, tuple) else (example,))
    arguments, keywords = tree.tree_map(widened, (tuple(arguments), keywords))
    modes = {each: each.training for each in module.modules()}
    with _named_keywords(module, keywords) as signature:
        try:
            given = signature.bind(*arguments, **keywords).arguments
        except TypeError as error:
            hint = "; a dictionary is taken as keywords, one that is an argument stands in a tuple" if (
                isinstance(example, dict)) else ""
            raise TypeError(f"[from_torch] the example does not fit forward: {error}{hint}") from None
        shapes = tree.tree_map(dims, dict(given))
        try:
            if not module.training:
                module.train()
            program = torch.export.export(module, arguments, keywords, dynamic_shapes=shapes)
            _keep_dropout(torch, program.graph)
            return program
        finally:
            for each, mode in modes.items():
                each.training = mode


def _keep_dropout(torch: Any, graph: Any) -> None:
    """Dropout in place becomes dropout, which torch.export would take apart, where nothing that
    shares its operand's memory is read after it."""
    place = {node: i for i, node in enumerate(graph.nodes)}

    def shares(node: Any) -> bool:
        if node.target is operator.getitem:  # a piece of chunk, split or unbind
            return True
        schema = getattr(node.target, "_schema", None)
        return schema is not None and any(each.alias_info is not None for each in schema.returns)

    for node in list(graph.nodes):
        if node.target is not torch.ops.aten.dropout_.default:
            continue
        same, waiting = set(), [node.args[0]]
        while waiting:
            each = waiting.pop()
            if each in same:
                continue
            same.add(each)
            waiting += [user for user in each.users if user is not node and shares(user)]
            waiting += [each.args[0]] if shares(each) else []
        is_read = any(place[user] > place[node] for each in same for user in each.users)
        if not is_read and all(each.op == "call_function" for each in same):
            node.target = torch.ops.aten.dropout.default


@contextlib.contextmanager
def _named_keywords(module: Any, keywords: Mapping[str, Any]) -> Iterator[inspect.Signature]:
    """The signature of forward, in which each keyword has a parameter of its own. torch.export takes
    no open dimensions for those that come by way of **kwargs."""
    forward = module.forward
    signature = inspect.signature(forward)
    parameters = list(signature.parameters.values())
    extra = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in keywords
             if name not in signature.parameters]
    has_any = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters)
    if not extra or not has_any:
        yield signature
        return

    @functools.wraps(forward)
    def named(*arguments: Any, **given: Any) -> Any:
        return forward(*arguments, **given)

    signature = signature.replace(parameters=[*parameters[:-1], *extra])
    named.__signature__ = signature  # type: ignore[attr-defined]
    before = vars(module).get("forward")
    module.forward = named
    try:
        yield signature
    finally:
        del module.forward
        if before is not None:
            module.forward = before


class _Names(dict[Any, str]):
    """Names of tensors by the nodes that give them; known ones become constants when they are read."""

    def __init__(self, writer: Writer, known: Mapping[Any, Any]) -> None:
        super().__init__()
        self.writer = writer
        self.known = known

    def __missing__(self, node: Any) -> str:
        tensor = self.known[node].detach().cpu()
        if tensor.is_floating_point():
            tensor = tensor.float()
        self[node] = self.writer.constant(tensor.numpy(), str(tensor.numpy().dtype))
        return self[node]


class _Translation:
    """One program as nodes for the importer."""

    def __init__(self, torch: Any, name: str, program: Any) -> None:
        self.torch = torch
        self.name = name
        self.program = program
        self.writer = Writer()
        self.known: dict[Any, Any] = {}
        self.names = _Names(self.writer, self.known)
        self.results: dict[Any, tuple[str, ...]] = {}  # of nodes with several
        self.inputs: list[tuple[str, int, list[int]]] = []
        self.outputs: list[str] = []
        self.refused: list[str] = []
        self.statistics: set[str] = set()
        self.tied = self._tied()

    def _fail(self, what: str) -> Any:
        raise ValueError(f"[from_torch] {self.name}: {what}")

    def _tied(self) -> dict[str, str]:
        """For each weight the first name of its memory."""
        first: dict[tuple[int, tuple[int, ...]], str] = {}
        names = {}
        for name, tensor in self.program.state_dict.items():
            key = (tensor.data_ptr() if tensor.numel() else id(tensor), tuple(tensor.shape))
            names[name] = first.setdefault(key, name)
        return names

    def is_frozen(self, name: str) -> bool:
        tensor = self.program.state_dict[name]
        return isinstance(tensor, self.torch.nn.Parameter) and not tensor.requires_grad

    def graph(self) -> tuple[Graph, list[tuple[str, str, tuple[int, ...], list[int]]]]:
        signature = self.program.graph_signature
        nodes = list(self.program.graph.nodes)
        specs = iter(signature.input_specs)
        self._find_statistics(nodes, signature)
        for node in nodes:
            if node.op == "placeholder":
                self._placeholder(node, next(specs))
            elif node.op == "call_function":
                self._call(node)
            elif node.op == "output":
                self._outputs(node, signature)
            else:
                self._fail(f"it has a node of kind {node.op}, which thimble does not import")
        if self.refused:
            raise ValueError(f"[from_torch] {self.name}: thimble does not import " + "; ".join(self.refused))
        made: tuple[Graph, Any] = _core.import_nodes(
            self.name, OPSET, self.writer.nodes, self.writer.initializers, self.inputs, self.outputs)
        return made

    def _find_statistics(self, nodes: list[Any], signature: Any) -> None:
        """Buffers that batch norms read: running statistics."""
        for node in nodes:
            if node.op != "call_function" or "batch_norm" not in str(node.target):
                continue
            for x in node.args[3:5]:
                target = signature.inputs_to_buffers.get(getattr(x, "name", ""))
                if target is not None:
                    self.statistics.add(target)

    def _placeholder(self, node: Any, spec: Any) -> None:
        kind = spec.kind.name
        fake = node.meta.get("val")
        if kind == "USER_INPUT":
            if not isinstance(fake, self.torch.Tensor):
                return  # a number that is part of the program
            name = node.name if node.name not in self.tied else f"{node.name}_input"
            if type_name(fake.dtype) not in TYPES:
                self._fail(f"input {name}: thimble has no tensors of {type_name(fake.dtype)}")
            if not fake.shape or isinstance(fake.shape[0], int):
                self._fail(
                    f"input {name}: its code fixes the batch size, dimension 0, at "
                    f"{fake.shape[0] if fake.shape else 'nothing'}; compute sizes from x.shape[0]")
            sizes = [-1, *(size_of(dim) for dim in fake.shape[1:])]
            if any(size >= _core.OPEN_BATCH for size in sizes):
                self._fail(f"input {name}: dimension 0 alone may be left open")
            self.inputs.append((name, TYPES[type_name(fake.dtype)], sizes))
            self.names[node] = name
        elif kind in ("PARAMETER", "BUFFER") and spec.target in self.tied:
            first = self.tied[spec.target]
            tensor = self.program.state_dict[first].detach()
            if kind == "BUFFER" and first not in self.statistics:
                self.known[node] = tensor.cpu()
                return
            self.writer.initializers[first] = (tensor.float().cpu().contiguous().numpy(), True)
            self.names[node] = first
        elif kind in ("BUFFER", "CONSTANT_TENSOR"):
            self.known[node] = self.program.constants[spec.target].detach().cpu()
        else:
            self._fail(f"it reads {spec.target}, of kind {kind}, which thimble does not import")

    def _call(self, node: Any) -> None:
        target = node.target
        if getattr(target, "__name__", "") == "getitem":
            source, index = node.args
            if source in self.results:
                made = self.results[source]
                self.names[node] = made[index] if index < len(made) else ""
            return
        results = node.meta.get("val")
        first = results[0] if isinstance(results, (tuple, list)) else results
        schema = getattr(target, "_schema", None)
        operator = "" if schema is None else schema.name.removeprefix("aten::")
        self.writer.described = f"{target}{self._place(node)}"
        if not isinstance(first, self.torch.Tensor):
            if operator in REFUSED:
                self._refuse(node, REFUSED[operator])
            return  # a size, which is read where it is needed
        if self._compute(node, first):
            return
        self.writer.layer = self._layer(node)
        if operator not in CONVERSIONS:
            return self._refuse(node, {**REFUSED, **REFUSED_OTHERS}.get(operator, ""))
        try:
            made_here = CONVERSIONS[operator](Call(self.writer, node, self.names, first))
        except UnsupportedError as error:
            return self._refuse(node, str(error))
        self._give(node, made_here if isinstance(made_here, tuple) else (made_here,))

    def _refuse(self, node: Any, reason: str) -> None:
        self.refused.append(self.writer.described + (f": {reason}" if reason else ""))
        self._give(node, ("?",) * 8)

    def _give(self, node: Any, made: tuple[str, ...]) -> None:
        if isinstance(node.meta["val"], (tuple, list)):
            self.results[node] = made
        else:
            self.names[node] = made[0]

    def _compute(self, node: Any, fake: Any) -> bool:
        """Computes what depends on known numbers alone."""
        fx = self.torch.fx
        if self.torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()):
            return False
        if any(not isinstance(dim, int) for dim in fake.shape) or isinstance(node.meta["val"], (tuple, list)):
            return False
        values = {}
        for each in node.all_input_nodes:
            value = self.known.get(each, each.meta.get("val"))
            if not isinstance(value, (int, float)) and each not in self.known:
                return False
            values[each] = value
        arguments = fx.map_arg((node.args, node.kwargs), lambda each: values[each])
        with self.torch.no_grad():
            self.known[node] = node.target(*arguments[0], **arguments[1])
        return True

    def _outputs(self, node: Any, signature: Any) -> None:
        given = list(node.args[0])
        tensors = []
        for x, spec in zip(given, signature.output_specs):
            kind = spec.kind.name
            if kind == "USER_OUTPUT":
                tensors.append(x)
            elif kind == "BUFFER_MUTATION":
                tensor = self.program.state_dict.get(spec.target)
                counts = tensor is not None and not tensor.is_floating_point()
                if spec.target not in self.statistics and not counts:
                    self._fail(f"forward changes the buffer {spec.target}; thimble keeps running statistics "
                               "of batch norms alone")
            else:
                self._fail(f"forward changes {spec.target}, which thimble does not import")
        tree = self.torch.utils._pytree
        spec = self.program.call_spec.out_spec
        paths = tree.tree_flatten_with_path(tree.tree_unflatten(tensors, spec))[0]
        for path, x in paths:
            if x is None or isinstance(x, (int, float)):
                continue
            label = re.sub(r"\W+", "_", tree.keystr(path)).strip("_")
            name = "output" if not label else f"output_{label}" if label[0].isdigit() else label
            self.writer.described = self.writer.layer = ""
            self.writer("Identity", self.names[x], outputs=[name])
            self.outputs.append(name)

    def _place(self, node: Any) -> str:
        """The line of the module and the submodule that call an operator."""
        lines = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
        own = [line for line in lines if f"{os.sep}torch{os.sep}" not in line[0]] or lines
        at = f" at {os.path.basename(own[-1][0])}:{own[-1][1]}" if own else ""
        path = self._path(node)
        return at + (f" in {path}" if path else "")

    @staticmethod
    def _path(node: Any) -> str:
        stack = list((node.meta.get("nn_module_stack") or {}).values())
        return re.sub(r"^L\['self'\]\.?", "", stack[-1][0]) if stack else ""

    def _layer(self, node: Any) -> str:
        """The name of a layer in summaries: that of a leaf of PyTorch's, or the operator's."""
        stack = list((node.meta.get("nn_module_stack") or {}).values())
        is_leaf = bool(stack) and str(stack[-1][1]).startswith("torch.nn.modules")
        return self._path(node) if is_leaf and self._path(node) else str(node.name)


__all__ = ["from_torch", "to_torch"]
