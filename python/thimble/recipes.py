"""The named models that ship with thimble, and their weights in PyTorch's layout."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Union

from . import _core
from ._arrays import Array
from ._check import NUMBER, TEXT, WHOLE, require
from ._core import Dataset, Graph, Schedule
from ._torch_weights import TorchWeights
from ._weights import Weights
from .files import save_safetensors
from .trainer import Trainer


TrainedWeights = Union[str, "os.PathLike[str]", Mapping[str, Any], Weights]


@contextlib.contextmanager
def _weights_file(where: str, weights: TrainedWeights) -> Iterator[str]:
    """A file with the weights: a checkpoint, or one that is written here."""
    if isinstance(weights, (str, os.PathLike)):
        yield os.fspath(weights)
        return
    if not isinstance(weights, (Trainer, Weights, Mapping)):
        raise TypeError(
            f"[{where}] weights must be a checkpoint's path, a dictionary of arrays or a Trainer, "
            f"got {type(weights).__name__}"
        )
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "weights.safetensors")
        if isinstance(weights, Trainer):
            weights.save(file)
        else:
            state = weights.parameters if isinstance(weights, Weights) else weights
            save_safetensors(file, state)
        try:
            yield file
        except (ValueError, RuntimeError) as error:
            raise ValueError(str(error).replace(file, "weights")) from None


class Recipe:
    """A model with the settings that train it well.

    graph: the model
    batch, epochs, optimizer, lr, ema_decay: the settings
    data_doc: what `data` reads
    makes: what `sample` makes: "images", "texts" or "none"
    """

    def __init__(self, name: str) -> None:
        require("recipe", name=(name, TEXT))
        settings: dict[str, Any] = _core.recipe(name)
        self.name = name
        self.doc: str = settings["doc"]
        self.batch: int = settings["batch"]
        self.epochs: int = settings["epochs"]
        self.optimizer: str = settings["optimizer"]
        self.lr: float = settings["lr"]
        self.ema_decay: float = settings["ema_decay"]
        self.data_doc: str = settings["data_doc"]
        self.makes: str = settings["makes"]
        self.sample_steps: int = settings["sample_steps"]
        self.latent: int = settings["latent"]
        self.graph: Graph = _core.recipe_graph(name)
        created = self.graph._created()
        shapes = {**created["parameter"], **created["state"]}
        self._torch = TorchWeights(shapes, *settings["torch"])

    def __repr__(self) -> str:
        return f"<thimble.Recipe {self.name}: {self.doc}>"

    def decoder(self, weights: TrainedWeights | None = None) -> Graph:
        """The part that turns latent codes "z" into an "image". weights: a checkpoint, a dictionary or a
        Trainer whose weights the graph gets; None: none. Raises ValueError if there is no such part."""
        return self._part("decoder", weights)

    def denoiser(self, weights: TrainedWeights | None = None) -> Graph:
        """The part that a diffusion model draws with: of images "x", their "time", their "digit" and whether
        it is "told" it gives "v". It draws no random numbers, so that export_tflite writes it. weights: as
        of decoder. Raises ValueError if there is no such part."""
        return self._part("denoiser", weights)

    def _part(self, part: str, weights: TrainedWeights | None) -> Graph:
        if weights is None:
            return _core.recipe_part(self.name, part, "")
        with _weights_file(part, weights) as file:
            return _core.recipe_part(self.name, part, file)

    def schedule(self, steps: int) -> Schedule:
        """The recipe's learning-rate schedule for a training of so many steps."""
        require("schedule", steps=(steps, WHOLE))
        return _core.recipe_schedule(self.name, self.lr, steps)

    def trainer(self, **settings: Any) -> Trainer:
        """A trainer with the recipe's optimizer, batch and average of weights, or the settings
        given instead."""
        own = {"optimizer": self.optimizer, "batch": self.batch, "ema_decay": self.ema_decay}
        return Trainer(self.graph, **{**own, **settings})

    def data(self, path: str | os.PathLike[str] = "", split: str = "train") -> Dataset:
        """The recipe's samples: real ones from a folder or file, as data_doc says, or without a path
        the built-in ones. split: "train" or "test". Raises FileNotFoundError if the path does not
        exist, RuntimeError if it lacks what data_doc says or is damaged."""
        require("data", split=(split, TEXT))
        return _core.recipe_data(self.name, os.fspath(path), split)

    def sample(
        self,
        weights: TrainedWeights,
        *,
        count: int = 1,
        seed: int = 0,
        prompt: str | bytes | None = None,
        length: int | None = None,
        temperature: float | None = None,
        top_k: int | None = None,
        steps: int | None = None,
        threads: int = 0,
    ) -> Any:
        """New samples: an array [count, height, width, channels] of numbers from 0 to 1, or a list
        of texts as bytes, which need not be UTF-8. Raises ValueError if the recipe makes no samples,
        and for an option that has no meaning for the recipe or is out of its range.

        Args:
            weights: a checkpoint, a dictionary, or a Trainer, whose averages are used if it has any
            count: images or texts, 1 to 100,000
            seed: the same seed gives the same samples
            prompt: texts: the beginning; None: empty
            length: texts: bytes to add; None: 256
            temperature: texts: 0 takes always the likeliest byte; None: 1
            top_k: texts: draw among so many of the likeliest bytes, 1 to 256; None: all
            steps: diffusion: steps from noise to image; None: sample_steps
            threads: 0 for one per processor
        """
        options = {
            "count": count, "seed": seed, "prompt": prompt, "length": length,
            "temperature": temperature, "top_k": top_k, "steps": steps, "threads": threads,
        }
        kinds = {
            "count": WHOLE, "seed": WHOLE, "prompt": ((str, bytes), "str or bytes"), "length": WHOLE,
            "temperature": NUMBER, "top_k": WHOLE, "steps": WHOLE, "threads": WHOLE,
        }
        given = {name: value for name, value in options.items() if value is not None}
        require("sample", **{name: (value, kinds[name]) for name, value in given.items()})
        with _weights_file("sample", weights) as file:
            return _core.recipe_sample(self.name, file, options)

    def to_torch(self, state: Mapping[str, Any]) -> dict[str, Array]:
        """A state dict in PyTorch's layout: torch.nn's weights of the same names (convolutions
        [out, in, kh, kw], in one dimension [out, in, k]; weights next to a flattened image in its
        order; tied weights under both names). Raises ValueError that lists all missing and unknown
        names and all wrong shapes."""
        return self._torch.to_torch(state)

    def from_torch(self, state: Mapping[str, Any]) -> dict[str, Array]:
        """The opposite of to_torch: takes a PyTorch state_dict of tensors or arrays. Buffers that are
        no weights (num_batches_tracked) are left out. Raises ValueError like to_torch, and if tied
        weights differ."""
        return self._torch.from_torch(state)


def names() -> list[str]:
    """The names of all recipes."""
    return list(_core.recipe_names())


def recipe(name: str) -> Recipe:
    """The recipe of that name. Raises ValueError that lists the known names."""
    return Recipe(name)


def _factory(name: str) -> Callable[[], Recipe]:
    def make() -> Recipe:
        return Recipe(name)

    settings = _core.recipe(name)
    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"The recipe {name}: {settings['doc']}.\n\n    Data: {settings['data_doc']}."
    return make


# Every recipe by its name: thimble.recipes.vae(), ...
globals().update({name: _factory(name) for name in names()})


def __getattr__(name: str) -> Callable[[], Recipe]:
    raise AttributeError(f"thimble has no recipe {name!r}; there are {', '.join(names())}")


__all__ = ["Recipe", "names", "recipe", *names()]


def __dir__() -> list[str]:
    return __all__
