"""Runs one case through PyTorch and through thimble, and compares outputs and gradients."""
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.utils import _pytree as pytree

import thimble as tb
from registry import COMPLEX, FLOAT64, Adapter, Refused

# torch.testing.assert_close's for float32.
RTOL, ATOL = 1.3e-6, 1e-5


class Mismatch(Exception):
    """What differs, in one line."""


@dataclasses.dataclass
class Case:
    """reference(*args, **kwargs) is PyTorch's; the adapter is given Values for the tensors."""

    reference: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    training: bool = True
    gradients: bool = True  # False: as at inference, no tensor requires a gradient


class _Inputs:
    """The tensors of a case, each once, and their values from before PyTorch runs."""

    def __init__(self, case: Case, gradients: bool) -> None:
        self.leaves, self.structure = pytree.tree_flatten((case.args, case.kwargs))
        self.tensors: list[Any] = []
        for leaf in self.leaves:
            if isinstance(leaf, torch.Tensor) and self._place(leaf) is None:
                self.tensors.append(leaf)
        _refuse_types(self.tensors)
        self.wanted = [gradients and x.requires_grad for x in self.tensors]
        self.arrays = [np.array(x.detach().resolve_neg()) for x in self.tensors]

    def _place(self, leaf: Any) -> int | None:
        return next((i for i, x in enumerate(self.tensors) if x is leaf), None)

    def of(self, which: bool, things: list[Any]) -> list[Any]:
        """Those whose gradients are wanted, or the others."""
        return [x for x, wanted in zip(things, self.wanted) if wanted == which]

    def arguments(self, wanted: list[Any], others: list[Any]) -> tuple[Any, Any]:
        """The case's arguments with other things for its tensors."""
        first, second = iter(wanted), iter(others)
        things = [next(first) if is_wanted else next(second) for is_wanted in self.wanted]
        leaves = [things[self._place(leaf)] if isinstance(leaf, torch.Tensor) else leaf
                  for leaf in self.leaves]
        return pytree.tree_unflatten(leaves, self.structure)


def _refuse_types(tensors: list[Any]) -> None:
    for tensor in tensors:
        if tensor.is_complex():
            raise Refused(COMPLEX)
        if tensor.dtype == torch.float64:
            raise Refused(FLOAT64)


def _torch_side(case: Case, adapter: Adapter, inputs: _Inputs) -> tuple[list[Any], Any, Any]:
    """PyTorch's outputs, the cotangent of each (None where it has none), the wanted gradients."""
    result = case.reference(*case.args, **case.kwargs)
    if adapter.outputs:
        result = adapter.outputs(result)
    outputs = [y for y in pytree.tree_leaves(result) if isinstance(y, torch.Tensor)]
    _refuse_types(outputs)
    wanted = inputs.of(True, inputs.tensors)
    random = np.random.default_rng(7)
    cotangents = [
        torch.from_numpy(np.asarray(random.uniform(-1, 1, tuple(y.shape)), np.float32))
        if wanted and y.requires_grad else None
        for y in outputs
    ]
    pairs = [(y, c) for y, c in zip(outputs, cotangents) if c is not None]
    gradients: list[Any] = []
    if pairs:
        found = torch.autograd.grad([y for y, _ in pairs], wanted, [c for _, c in pairs],
                                    allow_unused=True)
        gradients = [torch.zeros_like(x) if g is None else g for x, g in zip(wanted, found)]
    return [y.detach() for y in outputs], cotangents, gradients


def _thimble_side(
    case: Case, adapter: Adapter, inputs: _Inputs, cotangents: list[Any]
) -> tuple[list[Any], Any]:
    """thimble's outputs and the wanted gradients."""

    def outputs_of(wanted: list[Any], others: list[Any]) -> list[Any]:
        args, kwargs = inputs.arguments(wanted, others)
        result = adapter.call(*args, **kwargs)
        return list(result) if isinstance(result, (list, tuple)) else [result]

    def loss(wanted: list[Any], others: list[Any], factors: list[Any]) -> Any:
        outputs = outputs_of(wanted, others)
        if len(outputs) != len(cotangents):
            raise Mismatch(f"{len(outputs)} results, expected {len(cotangents)}")
        total, left = None, iter(factors)
        for output, cotangent in zip(outputs, cotangents):
            if cotangent is not None:
                part = tb.sum(tb.cast(output, "f32") * next(left))
                total = part if total is None else total + part
        return total, outputs

    arrays = inputs.of(True, inputs.arrays), inputs.of(False, inputs.arrays)
    factors = [c for c in cotangents if c is not None]
    if not factors:
        return tb.jit(outputs_of, training=case.training)(*arrays), []
    compiled = tb.value_and_grad(loss, has_aux=True, training=case.training)
    (_, outputs), gradients = compiled(*arrays, factors)
    return outputs, gradients


def compare(what: str, ours: Any, theirs: Any, times: float) -> None:
    array = np.array(ours)
    if array.dtype.name in ("bfloat16", "void16"):  # types that PyTorch does not take from NumPy
        ours = torch.from_numpy(array.view(np.uint16)).view(torch.bfloat16)
    else:
        ours = torch.from_numpy(array)
    if ours.shape != theirs.shape:
        raise Mismatch(f"{what}: shape {tuple(ours.shape)}, expected {tuple(theirs.shape)}")
    if theirs.is_floating_point() != ours.is_floating_point():
        raise Mismatch(f"{what}: type {ours.dtype}, expected {theirs.dtype}")
    try:
        torch.testing.assert_close(ours.to(theirs.dtype), theirs, rtol=RTOL * times,
                                   atol=ATOL * times, equal_nan=True)
    except AssertionError as error:
        raise Mismatch(f"{what}: {' '.join(str(error).split())}") from None


def run(case: Case, adapter: Adapter) -> None:
    """Returns where both sides agree; raises Refused, Mismatch, or what either side raised."""
    inputs = _Inputs(case, adapter.gradients and case.gradients)
    outputs, cotangents, gradients = _torch_side(case, adapter, inputs)
    ours, our_gradients = _thimble_side(case, adapter, inputs, cotangents)
    if len(ours) != len(outputs):
        raise Mismatch(f"{len(ours)} results, expected {len(outputs)}")
    for i, (mine, theirs) in enumerate(zip(ours, outputs)):
        compare(f"output {i}", mine, theirs, adapter.times)
    for i, (mine, theirs) in enumerate(zip(our_gradients, gradients)):
        compare(f"gradient {i}", mine, theirs, adapter.times)
