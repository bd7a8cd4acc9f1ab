"""The samples of PyTorch's databases as cases."""
import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_modules import module_db

from compare import Case, run
from registry import Adapter


def entry_name(entry: Any) -> str:
    """An entry's name, and its variant after a slash."""
    variant = getattr(entry, "variant_test_name", "")
    return f"{entry.name}/{variant}" if variant else entry.name


OP_ENTRIES = {entry_name(entry): entry for entry in op_db}
MODULE_ENTRIES = {entry_name(entry): entry for entry in module_db}


def _seed() -> None:
    """The samples are drawn; the same ones every time."""
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)


def of_op(adapter: Adapter) -> Iterator[Case]:
    """Its samples; those of an op with gradients once more without, as at inference: PyTorch has
    others for it, of ops that have no gradient, too."""
    entry = OP_ENTRIES[adapter.name]
    # Ops of whole numbers alone have no float32 samples.
    whole = torch.int64 in entry.dtypes and torch.float32 not in entry.dtypes
    dtype = torch.int64 if whole else torch.float32
    gradients = adapter.gradients and entry.supports_autograd and not whole
    for wanted in (True, False) if gradients else (False,):
        _seed()
        for sample in entry.sample_inputs("cpu", dtype, requires_grad=wanted):
            args, kwargs = sample.args, sample.kwargs
            if adapter.sample:
                args, kwargs = adapter.sample(args, kwargs)
            yield Case(entry.op, (sample.input, *args), kwargs, adapter.training)


def _module_case(entry: Any, sample: Any, training: bool, gradients: bool) -> Case:
    made = sample.constructor_input
    module = entry.module_cls(*made.args, **made.kwargs)
    module.train(training)
    given = sample.forward_input
    if entry.is_lazy:  # it has weights after its first use
        module(*given.args, **given.kwargs)
    weights = {**dict(module.named_parameters()), **dict(module.named_buffers())}

    def reference(module: Any, weights: Any, *args: Any, **kwargs: Any) -> Any:
        copies = {name: w if isinstance(w, torch.nn.Parameter) else w.clone()
                  for name, w in weights.items()}
        return torch.func.functional_call(module, copies, args, kwargs)

    return Case(reference, (module, weights, *given.args), given.kwargs, training, gradients)


def of_module(adapter: Adapter) -> Iterator[Case]:
    """Its samples in training and in evaluation, with gradients and without."""
    entry = MODULE_ENTRIES[adapter.name]
    for gradients in (True, False):
        for training in (True, False):
            _seed()
            samples = entry.module_inputs_func(entry, "cpu", torch.float32, gradients, training)
            for sample in samples:
                yield _module_case(entry, sample, training, gradients)


Samples = Iterator[Callable[[], None]]


def run_op(adapter: Adapter) -> Samples:
    """A function for each sample of an op: it returns where PyTorch and thimble agree."""
    return (partial(run, case, adapter) for case in of_op(adapter))


def run_module(adapter: Adapter) -> Samples:
    """Likewise of a module, in training and in evaluation."""
    return (partial(run, case, adapter) for case in of_module(adapter))
