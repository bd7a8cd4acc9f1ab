"""The named models that ship with thimble, and their weights in PyTorch's layout."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

from . import _core
from ._arrays import Array
from ._check import NUMBER, TEXT, WHOLE, require
from ._core import Dataset, Graph, Schedule
from ._torch_weights import TorchWeights
from ._weights import Weights
from .files import save_safetensors
from .trainer import Trainer


class Recipe:
    """A model with the settings that train it well.

    graph, batch, epochs, optimizer, lr, ema_decay: the model and those settings.
    data_doc: what `data` takes. makes: what `sample` makes, "images", "texts" or "none".
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

    def decoder(self) -> Graph:
        """The part that turns latent codes "z" into an "image"; ValueError where there is none."""
        return _core.recipe_decoder(self.name)

    def schedule(self, steps: int) -> Schedule:
        """Its learning rate over a training of so many steps."""
        require("schedule", steps=(steps, WHOLE))
        return _core.recipe_schedule(self.name, self.lr, steps)

    def trainer(self, **settings: Any) -> Trainer:
        """A trainer with the recipe's optimizer, batch and average of weights, or the settings
        given instead."""
        own = {"optimizer": self.optimizer, "batch": self.batch, "ema_decay": self.ema_decay}
        return Trainer(self.graph, **{**own, **settings})

    def data(self, path: str | os.PathLike[str] = "", split: str = "train") -> Dataset:
        """Its samples: real ones from that folder or file, of which data_doc tells, else the
        built-in ones. split: "train" or "test". FileNotFoundError where there is none of that name,
        RuntimeError where it lacks what data_doc says or is damaged."""
        require("data", split=(split, TEXT))
        return _core.recipe_data(self.name, os.fspath(path), split)

    def sample(
        self,
        weights: str | os.PathLike[str] | Mapping[str, Any] | Weights,
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
        of texts, each the bytes that the model wrote, which need not be UTF-8. ValueError where
        the recipe makes none, and where an option means nothing to it or is out of its range;
        TypeError where one is of another type.

        weights: a checkpoint, a dictionary, or the Trainer, whose averages are taken if it has any.
        count: 1 to 100,000. seed: the same seed gives the same samples. threads: 0 for one per
        processor.
        prompt, length, temperature, top_k: of texts: the beginning (None: nothing), the bytes to
        add (None: 256), how bold (0: always the likeliest; None: 1), and among how many of the
        likeliest bytes, 1 to 256 (None: all).
        steps: of diffusion, from noise to image; None: sample_steps.
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
        if isinstance(weights, (str, os.PathLike)):
            return _core.recipe_sample(self.name, os.fspath(weights), options)
        if not isinstance(weights, (Trainer, Weights, Mapping)):
            raise TypeError(
                "[sample] weights must be a checkpoint's path, a dictionary of arrays or a Trainer, "
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
                return _core.recipe_sample(self.name, file, options)
            except (ValueError, RuntimeError) as error:
                raise ValueError(str(error).replace(file, "weights")) from None

    def to_torch(self, state: Mapping[str, Any]) -> dict[str, Array]:
        """A state dict in PyTorch's layout: torch.nn's weights of the same names (convolutions
        [out, in, kh, kw], in one dimension [out, in, k]; what follows or precedes a flattened
        image in its order; what is tied there under both names). ValueError that lists all names
        that are missing or unknown and all shapes that are wrong."""
        return self._torch.to_torch(state)

    def from_torch(self, state: Mapping[str, Any]) -> dict[str, Array]:
        """The opposite of to_torch: takes a PyTorch state_dict of tensors or arrays. Its buffers that
        are no weights (num_batches_tracked) are left out. ValueError as there, and where arrays that
        the recipe ties differ."""
        return self._torch.from_torch(state)


def names() -> list[str]:
    """All recipes."""
    return list(_core.recipe_names())


def recipe(name: str) -> Recipe:
    """The recipe of that name. Throws ValueError that lists the known ones."""
    return Recipe(name)


def _maker(name: str) -> Callable[[], Recipe]:
    def make() -> Recipe:
        return Recipe(name)

    settings = _core.recipe(name)
    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"The recipe {name}: {settings['doc']}.\n\n    Data: {settings['data_doc']}."
    return make


# Every recipe by its name: thimble.recipes.vae(), ...
globals().update({name: _maker(name) for name in names()})


def __getattr__(name: str) -> Callable[[], Recipe]:
    raise AttributeError(f"thimble has no recipe {name!r}; there are {', '.join(names())}")


__all__ = ["Recipe", "names", "recipe", *names()]


def __dir__() -> list[str]:
    return __all__
