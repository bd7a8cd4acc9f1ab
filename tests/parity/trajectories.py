"""The samples of optim_db: ten steps through both optimizers from the same parameters by the same
gradients, and the parameters compared after each."""
import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch.testing._internal.common_optimizers import optim_db

import thimble as tb
from compare import compare
from registry import Adapter

STEPS = 10
SHAPES = [(3, 4), (5,), (2, 3, 2), ()]
# PyTorch's optimizers that take no other parameters; thimble's has a rule for the others.
MATRICES_ALONE = {"Muon"}
# Of the table whose rows have gradients, and the places of a step that read one.
TABLE, PLACES = (7, 3), 5

# How PyTorch computes, not what.
_SELECTORS = {"foreach", "fused", "capturable", "differentiable"}

OPTIMIZER_ENTRIES = {entry.optim_cls.__name__: entry for entry in optim_db}


def _random(*shape: int) -> Any:
    return torch.testing.make_tensor(shape, dtype=torch.float32, device="cpu", low=-1, high=1)


class _Recorder(tb.callbacks.Callback):
    """The parameters after every step."""

    def __init__(self) -> None:
        self.after: list[dict[str, Any]] = []

    def on_step(self, report: Any) -> None:
        self.after.append({k: np.array(v) for k, v in self.trainer.state_dict().items()})


def _trained(graph: Any, optimizer: Any, start: dict[str, Any], data: dict[str, Any]) -> Any:
    trainer = tb.Trainer(graph, optimizer=optimizer, batch=1, threads=1)
    trainer.load_state_dict({name: x.numpy() for name, x in start.items()})
    recorder = _Recorder()
    trainer.fit(data, epochs=1, shuffle=False, callbacks=[recorder], progress=False)
    return recorder.after


def _compare(ours: list[dict[str, Any]], theirs: list[dict[str, Any]], times: float) -> None:
    for step, (mine, wanted) in enumerate(zip(ours, theirs, strict=True)):
        for name, value in wanted.items():
            compare(f"{name} after step {step + 1}", mine[name], value, times)


@contextlib.contextmanager
def _bfloat16_is_float32() -> Iterator[None]:
    """Muon's iteration in float32: PyTorch's code, without the rounding that makes it fast."""
    rounded = torch.Tensor.bfloat16
    torch.Tensor.bfloat16 = lambda self: self.clone()
    try:
        yield
    finally:
        torch.Tensor.bfloat16 = rounded


def _whole(adapter: Adapter, make: Callable[[Any], Any], settings: dict[str, Any]) -> None:
    """Gradients that are given: of the sum of the parameters times them."""
    shapes = [shape for shape in SHAPES if adapter.name not in MATRICES_ALONE or len(shape) == 2]
    start = {f"w{i}": _random(*shape) for i, shape in enumerate(shapes)}
    gradients = {f"g{i}": _random(STEPS, *shape) for i, shape in enumerate(shapes)}
    params = {name: torch.nn.Parameter(x.clone()) for name, x in start.items()}
    optimizer = make(list(params.values()))
    theirs = []
    for step in range(STEPS):
        for param, gradient in zip(params.values(), gradients.values()):
            param.grad = gradient[step].clone()
        with _bfloat16_is_float32():
            optimizer.step()
        theirs.append({name: p.detach().clone() for name, p in params.items()})

    graph = tb.Graph()
    parts = [tb.sum(graph.parameter(f"w{i}", shape) * graph.input(f"g{i}", shape))
             for i, shape in enumerate(shapes)]
    graph.minimize(functools.reduce(lambda a, b: a + b, parts))
    data = {name: g.numpy() for name, g in gradients.items()}
    _compare(_trained(graph, adapter.call(**settings), start, data), theirs, adapter.times)


def _by_rows(adapter: Adapter, make: Callable[[Any], Any], settings: dict[str, Any]) -> None:
    """Sparse gradients of an embedding: some rows twice in a step, one of them never."""
    start = _random(*TABLE)
    indices = torch.randint(0, TABLE[0] - 1, (STEPS, PLACES))
    gradients = _random(STEPS, PLACES, TABLE[1])
    table = torch.nn.Parameter(start.clone())
    optimizer = make([table])
    theirs = []
    for index, gradient in zip(indices, gradients):
        optimizer.zero_grad()
        y = torch.nn.functional.embedding(index, table, sparse=True)
        (y * gradient).sum().backward()
        optimizer.step()
        theirs.append({"e.weight": table.detach().clone()})

    graph = tb.Graph()
    y = tb.embedding(graph.input("index", (PLACES,), dtype="i32"), embeddings=TABLE[0],
                     width=TABLE[1], sparse=True, name="e")
    graph.minimize(tb.sum(y * graph.input("gradient", (PLACES, TABLE[1]))))
    data = {"index": indices.numpy().astype(np.int32), "gradient": gradients.numpy()}
    _compare(_trained(graph, adapter.call(**settings), {"e.weight": start}, data), theirs,
             adapter.times)


def run_optimizer(adapter: Adapter) -> Iterator[Callable[[], None]]:
    """A function for each of the settings of an optimizer, with whole gradients or, where PyTorch's
    takes no others, sparse ones; and one with sparse ones where it takes both."""
    entry = OPTIMIZER_ENTRIES[adapter.name]
    torch.manual_seed(0)
    for sample in entry.optim_inputs_func(device="cpu", dtype=torch.float32):
        make = functools.partial(entry.optim_cls, **sample.kwargs)
        settings = {name: value.item() if isinstance(value, torch.Tensor) else value
                    for name, value in sample.kwargs.items() if name not in _SELECTORS}
        if entry.only_supports_sparse_grads:
            yield functools.partial(_by_rows, adapter, make, settings)
        else:
            yield functools.partial(_whole, adapter, make, settings)
    if entry.supports_sparse or entry.only_supports_sparse_grads:
        settings = entry.metadata_for_sparse[0]
        make = functools.partial(entry.optim_cls, **settings)
        yield functools.partial(_by_rows, adapter, make, settings)
