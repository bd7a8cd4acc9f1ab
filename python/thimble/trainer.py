"""Training a graph: compile once, then fit, evaluate, predict, save and resume."""

from __future__ import annotations

import numbers
import os
import re
import reprlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import _core
from ._batches import Feeder
from ._check import GRAPH, NUMBER, TEXT, TRUTH, WHOLE, listed, require
from ._core import EpochReport, Evaluation, FitResult, Graph, Schedule, StepReport
from ._optimizer import GradientClip, Objective, Optimizer, ParamGroup
from ._scheme import Scheme, scheme_text
from .callbacks import Callback, CallbackLike
from .optimizers import AdamW
from ._arrays import Array
from ._weights import Weights, chosen
from .plan import Plan
from .progress import ProgressBar, is_wanted

_UNITS = {
    "": 1, "b": 1, "bytes": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30,
    "kb": 10**3, "mb": 10**6, "gb": 10**9,
}


def _bytes(name: str, size: int | str | None) -> int:
    """A size in bytes: a number, "2 MiB", or None for 0."""
    if size is None:
        return 0
    require("Trainer", **{name: (size, ((numbers.Integral, str), 'bytes or a text such as "2 MiB"'))})
    count: float = size if not isinstance(size, str) else 0
    if isinstance(size, str):
        match = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*([A-Za-z]*)\s*", size)
        if match is None or match[2].lower() not in _UNITS:
            got = reprlib.repr(size)
            raise ValueError(f'[{name}] expected bytes or a text such as "2 MiB", got {got}')
        count = float(match[1]) * _UNITS[match[2].lower()]
    if not 1 <= count < 1 << 63:
        raise ValueError(
            f"[{name}] must be 1 byte to 8 EiB, got {reprlib.repr(size)}; None stands for no setting"
        )
    return int(count)


def _parts(micro_batches: int | str, budget: int) -> int:
    """A number of micro-batches; 0 for "auto"."""
    if micro_batches == "auto":
        if budget == 0:
            raise ValueError('[micro_batches] "auto" asks a memory_budget how many; give one, or a number')
        return 0
    require("Trainer", micro_batches=(micro_batches, (numbers.Integral, 'a whole number or "auto"')))
    parts = int(micro_batches)
    if parts < 1:
        raise ValueError(f'[micro_batches] must be 1 or more, or "auto", got {reprlib.repr(parts)}')
    return _whole("micro_batches", parts, 1)


def _whole(name: str, value: int, low: int, bits: int = 63) -> int:
    """The value, which must be `low` or more and have no more bits."""
    if not low <= value < 1 << bits:
        wanted = f"{low} or more" if value < low else f"less than 2**{bits}"
        raise ValueError(f"[{name}] expected {wanted}, got {reprlib.repr(value)}")
    return int(value)


def _folder(swap_dir: str | os.PathLike[str] | None) -> str:
    """A folder's path; empty for None."""
    folder = (str, os.PathLike, type(None))
    require("Trainer", swap_dir=(swap_dir, (folder, "a folder's path")))
    return "" if swap_dir is None else os.fsdecode(swap_dir)


def _text(optimizer: Optimizer | str) -> str:
    """An optimizer in the command line's spelling."""
    return optimizer if isinstance(optimizer, str) else optimizer._text()


def _options(
    graph: Graph,
    *,
    optimizer: Optimizer | str = AdamW(),
    schedule: Schedule | Callable[[int], float] | None = None,
    groups: Sequence[ParamGroup] = (),
    objectives: Sequence[Objective] = (),
    scheme: Scheme | None = None,
    clip: GradientClip | float | None = None,
    ema_decay: float = 0.0,
    batch: int = 32,
    accumulate: int = 1,
    memory_budget: int | str | None = None,
    swap: str = "auto",
    swap_dir: str | os.PathLike[str] | None = None,
    micro_batches: int | str = 1,
    split_batch_norm: bool = False,
    precision: str = "f32",
    loss_scale: float = 65536.0,
    loss_scale_interval: int = 2000,
    saved_activations: str = "f32",
    quantization_aware_scaling: bool = True,
    integer_rounding: str = "stochastic",
    error_type: str = "f32",
    input_pipeline_bytes: int | str | None = None,
    seed: int = 0,
    threads: int = 0,
    reference_kernels: bool = False,
) -> _core.TrainerOptions:
    """The arguments of a Trainer, checked."""
    require(
        "Trainer", graph=(graph, GRAPH), ema_decay=(ema_decay, NUMBER), batch=(batch, WHOLE),
        accumulate=(accumulate, WHOLE), seed=(seed, WHOLE), threads=(threads, WHOLE),
        swap=(swap, TEXT), precision=(precision, TEXT), loss_scale=(loss_scale, NUMBER),
        loss_scale_interval=(loss_scale_interval, WHOLE),
        saved_activations=(saved_activations, TEXT), integer_rounding=(integer_rounding, TEXT),
        error_type=(error_type, TEXT),
        split_batch_norm=(split_batch_norm, TRUTH), reference_kernels=(reference_kernels, TRUTH),
        quantization_aware_scaling=(quantization_aware_scaling, TRUTH),
    )
    require(
        "Trainer",
        optimizer=(optimizer, ((Optimizer, str), "one such as thimble.AdamW()")),
        clip=(clip, ((GradientClip, numbers.Real, type(None)), "a thimble.GradientClip or a number")),
    )
    if threads < 0:
        raise ValueError(f"[Trainer] threads must be 0 (one per processor) or more, got {threads}")
    groups = listed("Trainer", "groups", groups, ParamGroup, "thimble.ParamGroup")
    objectives = listed("Trainer", "objectives", objectives, Objective, "thimble.Objective")
    if schedule is not None and not isinstance(schedule, Schedule):
        if not callable(schedule):
            raise TypeError(
                "[Trainer] schedule must be a thimble.Schedule or a function of the step, got "
                f"{schedule!r}"
            )
        schedule = Schedule.function(schedule)
    if isinstance(clip, (int, float)):
        clip = GradientClip(clip)
    budget = _bytes("memory_budget", memory_budget)
    folder = _folder(swap_dir)
    if budget == 0 and (swap == "always" or folder):
        idle = "swap_dir" if folder else "swap"
        raise ValueError(f"[{idle}] does nothing without a memory_budget; give one, or leave it out")
    return _core.TrainerOptions(
        optimizer=_text(optimizer),
        schedule=schedule,
        groups=[(g.pattern, g.lr_scale, g.weight_decay, g.l1, g.l2, g.clip_limit, g.frozen) for g in groups],
        objectives=[(o.loss, o.parameters, _text(o.optimizer or "")) for o in objectives],
        scheme=scheme_text(scheme),
        clip="none" if clip is None else clip.kind,
        clip_limit=0.0 if clip is None else clip.limit,
        batch=_whole("batch", batch, 1),
        accumulate=_whole("accumulate", accumulate, 1),
        ema_decay=ema_decay,
        memory_budget=budget,
        swap=swap,
        swap_dir=folder,
        micro_batches=_parts(micro_batches, budget),
        split_batch_norm=split_batch_norm,
        precision=precision,
        loss_scale=loss_scale,
        loss_scale_interval=_whole("loss_scale_interval", loss_scale_interval, 1),
        saved_activations=saved_activations,
        quantization_aware_scaling=quantization_aware_scaling,
        integer_rounding=integer_rounding,
        error_type=error_type,
        input_pipeline_bytes=_bytes("input_pipeline_bytes", input_pipeline_bytes),
        seed=_whole("seed", seed, 0, 64),
        threads=_whole("threads", threads, 0, 31),
        reference_kernels=reference_kernels,
    )


def plan_training(graph: Graph, **options: Any) -> Plan:
    """The plan of thimble.Trainer(graph, **options), made without taking its memory.
    `nearest_feasible_bytes` is the smallest budget found that can be kept. A budget that cannot be
    kept is no error here: `fits` is then False, and the plan is the smallest found."""
    return Plan(_core.plan_training(graph, _options(graph, **options)))


class _Callbacks:
    """Calls all callbacks of one fit by two functions."""

    def __init__(self, callbacks: Sequence[CallbackLike], trainer: Trainer) -> None:
        self.callbacks = callbacks
        for callback in callbacks:
            if isinstance(callback, Callback):
                callback.trainer = trainer
        overridden = [c for c in callbacks if isinstance(c, Callback)
                      and type(c).on_step is not Callback.on_step]
        self.on_step = self._step if overridden else None
        self.on_epoch = self._epoch if callbacks else None

    def _step(self, report: StepReport) -> bool:
        answers = [c.on_step(report) for c in self.callbacks if isinstance(c, Callback)]
        return any(answer is True for answer in answers)

    def _epoch(self, report: EpochReport) -> bool:
        answers = [
            c.on_epoch(report) if isinstance(c, Callback) else c(report) for c in self.callbacks
        ]
        return any(answer is True for answer in answers)


class Gradients(dict[str, Array]):
    """Gradients of a batch's loss, by parameter name. loss, metrics: of that batch."""

    def __init__(self, arrays: Mapping[str, Array], batch: Evaluation) -> None:
        super().__init__(arrays)
        self.loss = batch.loss
        self.metrics = batch.metrics


class Trainer(Weights):
    """A graph compiled for training.

    Data for its methods is a thimble.Dataset, or arrays as a dictionary by the graph's names or as a
    tuple (inputs, then labels), or an iterable of batches of either form, such as a list or a
    PyTorch DataLoader. Arrays of the graph's element types are read without a copy.

    A trainer is not thread-safe, but the GIL is released while it computes. Wrong arguments raise
    ValueError, everything else RuntimeError, among it a loss that is not finite.

    Args:
        optimizer: thimble.AdamW(lr=...), Adam, SGD, RMSProp, or their command-line spelling
        schedule: of the learning rate: a thimble.Schedule or a function of the step; None: the
            optimizer's own, constant
        groups: parameters with settings of their own; the first group that matches counts
        objectives: several losses, each for some of the parameters; the first that matches counts,
            and the rest follows the graph's loss. A step changes the parameters of all, by gradients
            at what they were before it
        scheme: a sparse update: what is trained, all else is frozen; a dictionary such as
            {"bias_last": 4, "weights": {"conv2": 0.25, "dense": [0, 3]}} or the path of a JSON file:
            the biases of the last layers, and of layers all weights (1), a ratio of input channels
            or a list of them; of a ratio those of the largest weights (see choose_channels)
        clip: a limit on gradients; a number limits the norm of all of them together
        ema_decay: share kept in a running average of the weights, which evaluate and predict then
            use; 0: no average
        batch: samples in one step
        accumulate: steps whose gradients make one update
        memory_budget: the most training may take, in bytes or as "2 MiB"; a budget that is too small
            raises a ValueError that names the nearest one that works; an ample one avoids
            recomputation; None: what is little work and saves memory is recomputed. A budget
            changes no bit of a result
        swap: whether values may lie in a file between their uses: "auto" where that takes less time
            than recomputation, "always" instead of recomputation, or "never"; needs a memory_budget
        swap_dir: the folder of that file, which has no name and disappears with the process; None:
            that of temporary files
        micro_batches: number of parts that a batch is computed in, one after another, their
            gradients summed up: the same training to rounding, in the memory of one part; "auto":
            as many as the memory_budget needs
        split_batch_norm: let batch norms use statistics of each micro-batch, which is another
            training
        precision: type of activations and gradients: "f32", or "bf16" or "f16" in half their memory,
            which change the results; parameters, optimizer state, sums and the loss are float32
            always. With "f16" the loss is scaled, as torch.amp.GradScaler does
        loss_scale: the first one of "f16"; it halves at an update whose gradients are not finite,
            which is skipped
        loss_scale_interval: the loss scale doubles after so many other updates in a row
        saved_activations: type in which activations are stored for the backward pass: "f32", or
            "bf16" or "f16" in half the memory, which change the results
        quantization_aware_scaling: of int8 weights and int32 biases: the optimizer's rule is for the
            real numbers that they stand for, and lr means what it means in float32; False: it is for
            the integers
        integer_rounding: how their changes become whole: "stochastic", up with the probability of
            the fractional part, or "residual", to nearest, where what that leaves waits for the next
            update, in 2 bytes a number
        error_type: how the gradients of int8 activations are stored: "f32", or "i8" with one scale
            for the tensor, in a quarter of the memory, which changes the results
        input_pipeline_bytes: part of the memory_budget for reading samples; None: two batches
        seed: of initial values, order, dropout and noise; the same seed gives the same bits
        threads: 0 for one per processor
        reference_kernels: run these alone, far slower: the bits of C sources and of thimble-micro
    """

    def __init__(
        self,
        graph: Graph,
        *,
        optimizer: Optimizer | str = AdamW(),
        schedule: Schedule | Callable[[int], float] | None = None,
        groups: Sequence[ParamGroup] = (),
        objectives: Sequence[Objective] = (),
        scheme: Scheme | None = None,
        clip: GradientClip | float | None = None,
        ema_decay: float = 0.0,
        batch: int = 32,
        accumulate: int = 1,
        memory_budget: int | str | None = None,
        swap: str = "auto",
        swap_dir: str | os.PathLike[str] | None = None,
        micro_batches: int | str = 1,
        split_batch_norm: bool = False,
        precision: str = "f32",
        loss_scale: float = 65536.0,
        loss_scale_interval: int = 2000,
        saved_activations: str = "f32",
        quantization_aware_scaling: bool = True,
        integer_rounding: str = "stochastic",
        error_type: str = "f32",
        input_pipeline_bytes: int | str | None = None,
        seed: int = 0,
        threads: int = 0,
        reference_kernels: bool = False,
    ) -> None:
        self._core: _core.Trainer = _core.Trainer(graph, _options(
            graph,
            optimizer=optimizer,
            schedule=schedule,
            groups=groups,
            objectives=objectives,
            scheme=scheme,
            clip=clip,
            ema_decay=ema_decay,
            batch=batch,
            accumulate=accumulate,
            memory_budget=memory_budget,
            swap=swap,
            swap_dir=swap_dir,
            micro_batches=micro_batches,
            split_batch_norm=split_batch_norm,
            precision=precision,
            loss_scale=loss_scale, loss_scale_interval=loss_scale_interval,
            saved_activations=saved_activations,
            quantization_aware_scaling=quantization_aware_scaling,
            integer_rounding=integer_rounding, error_type=error_type,
            input_pipeline_bytes=input_pipeline_bytes,
            seed=seed, threads=threads, reference_kernels=reference_kernels,
        ))

    @classmethod
    def _of(cls, core: _core.Trainer) -> Trainer:
        """A Trainer of an existing compiled trainer."""
        trainer = cls.__new__(cls)
        trainer._core = core
        return trainer

    def __repr__(self) -> str:
        inputs = ", ".join(f"{n} {list(shape)}" for n, (_, shape) in self._core.inputs().items())
        count = sum(self.parameters[name].size for name in self.parameter_names)
        return (
            f"<thimble.Trainer of {count:,} parameters, inputs {inputs or 'none'}, batch {self.batch}: "
            f"{self.steps} steps, {self.epochs} epochs done>"
        )

    def _source(self, data: Any, with_labels: bool) -> Any:
        return Feeder(self._core.inputs(), self._core.labels(), with_labels).source(data)

    def fit(
        self,
        data: Any,
        *,
        epochs: int = 1,
        initial_epoch: int = 0,
        validation_data: Any = None,
        callbacks: Sequence[CallbackLike] = (),
        shuffle: bool = True,
        patience: int = 0,
        checkpoint: str | os.PathLike[str] | None = None,
        best_checkpoint: str | os.PathLike[str] | None = None,
        prefetch: int = 1,
        progress: bool | None = None,
    ) -> FitResult:
        """Trains `epochs` more epochs or, as in Keras, from initial_epoch to epochs. A training of 30
        epochs that was stopped and resumed ends with
        fit(data, epochs=30, initial_epoch=trainer.epochs), which trains nothing where all are done.
        An epoch that was stopped in its middle is ended first, and counts as one. Order, schedule and
        reports count the epochs of the whole training, whatever initial_epoch is.

        Ctrl-C ends training after the current step and raises KeyboardInterrupt; the next call of
        fit continues.

        Args:
            data: see Trainer
            epochs: more than before; with an initial_epoch, the number of the last one
            initial_epoch: how many of `epochs` are done already
            validation_data: evaluated after every epoch
            callbacks: thimble.Callback objects, or functions called with the report of every epoch
            shuffle: a new order every epoch; iterables of batches have their own
            patience: stop after so many epochs without a lower loss (of the validation data, if
                any); 0: never
            checkpoint: a file written after every epoch and on a stop
            best_checkpoint: a file written when the loss is lowest
            prefetch: batches read ahead by a thread; 0: read between two steps, straight into them
            progress: show a bar; None: if a terminal or notebook shows it
        """
        require(
            "fit", epochs=(epochs, WHOLE), initial_epoch=(initial_epoch, WHOLE),
            patience=(patience, WHOLE), prefetch=(prefetch, WHOLE),
        )
        told = listed("fit", "callbacks", callbacks, (Callback, Callable), "callbacks or functions")
        last = self.epochs + max(epochs - initial_epoch, 0)
        bar = ProgressBar(last) if (is_wanted() if progress is None else progress) else None
        if bar is not None:
            told.insert(0, bar)
        functions = _Callbacks(told, self)
        try:
            return self._core.fit(
                self._source(data, True),
                None if validation_data is None else self._source(validation_data, True),
                epochs=epochs,
                initial_epoch=initial_epoch,
                patience=patience,
                shuffle=shuffle,
                prefetch=prefetch,
                checkpoint="" if checkpoint is None else os.fspath(checkpoint),
                best_checkpoint="" if best_checkpoint is None else os.fspath(best_checkpoint),
                on_step=functions.on_step,
                on_epoch=functions.on_epoch,
            )
        finally:
            if bar is not None:
                bar.close()

    def evaluate(self, data: Any) -> Evaluation:
        """Means of the loss and the metrics over all samples, computed as at inference."""
        return self._core.evaluate(self._source(data, True))

    def predict(self, data: Any, output: str | None = None) -> Any:
        """The graph's outputs for every sample, [samples, ...]: one array if the graph has one output
        or `output` names one, else a dictionary by name. The data needs no labels."""
        return chosen(self._core.predict(self._source(data, False)), output)

    def step(self, data: Any) -> Evaluation:
        """One training step on all samples of some arrays or of a Dataset, at most a batch: their
        loss and metrics before it. Counts steps, and no epochs."""
        return self._core.step(self._batch(data))

    def gradients(self, data: Any) -> Gradients:
        """The gradients that step would use, by the names of the parameters that the loss depends
        on: gradients of the loss alone, without penalties, limits and accumulated sums. The trainer
        does not change, nor do its random numbers and running statistics."""
        batch, arrays = self._core.gradients(self._batch(data))
        return Gradients(arrays, batch)

    def _batch(self, data: Any) -> Any:
        if isinstance(data, _core.Dataset):
            return data
        return Feeder(self._core.inputs(), self._core.labels(), True).table(data)

    def plan(self) -> Plan:
        """The memory plan of a step."""
        return Plan(self._core.plan())

    @property
    def parameter_names(self) -> list[str]:
        """Names of the parameters, without the statistics."""
        return self._core.parameter_names()

    def load_state_dict(self, state: Mapping[str, Any], strict: bool = True) -> None:
        super().load_state_dict(state, strict)
        self._core.start_averages()

    load_state_dict.__doc__ = Weights.load_state_dict.__doc__

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes weights, optimizer state, step, seed and data position as safetensors. The file is
        whole at any moment: a new one replaces the old one at once."""
        self._core.save(os.fspath(path))

    def resume(self, path: str | os.PathLike[str]) -> None:
        """Continues exactly where save left off: the same bits as never having stopped."""
        self._core.resume(os.fspath(path))

    def load_weights(self, path: str | os.PathLike[str]) -> None:
        """Reads parameters and running statistics alone; training starts anew from them."""
        self._core.load_weights(os.fspath(path))

    @property
    def epochs(self) -> int:
        """Epochs done, including those before a resume."""
        return self._core.epochs

    @property
    def steps(self) -> int:
        """Steps done."""
        return self._core.steps

    @property
    def loss_scale(self) -> float:
        """With precision "f16" the present factor of the loss; else 0."""
        return self._core.loss_scale

    @property
    def skipped_updates(self) -> int:
        """Updates skipped because f16 gradients were not finite, including those before a resume."""
        return self._core.skipped_updates

    @property
    def batch(self) -> int:
        """Samples in one step."""
        return self._core.batch

    def weights_sha256(self) -> str:
        """SHA-256 of all parameters' names and bytes in order of name."""
        return self._core.weights_sha256()
