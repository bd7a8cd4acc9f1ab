"""The named models that ship with thimble, and their weights in PyTorch's layout."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from . import _core
from ._arrays import Array, as_array
from ._core import Dataset, Graph, Schedule
from ._weights import Weights
from .files import save_safetensors
from .trainer import Trainer

# Which axis of these arrays runs over an image that was flattened as (height, width, channels):
# PyTorch flattens (channels, height, width).
_FLATTENED: dict[str, dict[str, tuple[int, int, int, int]]] = {
    "lenet5": {"dense1.weight": (1, 5, 5, 16)},
    "vae": {
        "mean.weight": (1, 7, 7, 8),
        "logvar.weight": (1, 7, 7, 8),
        "decoder.dense.weight": (0, 7, 7, 8),
        "decoder.dense.bias": (0, 7, 7, 8),
    },
}

# Names under which PyTorch's state dict holds an array a second time.
_TIED: dict[str, dict[str, str]] = {"gpt": {"lm_head.weight": "transformer.wte.weight"}}
# Buffers of a PyTorch module that are no weights: counters, and the causal mask of older nanoGPTs.
_BUFFERS = ("num_batches_tracked", ".attn.bias", ".attn.masked_bias")


def _to_torch_layout(array: Array) -> Array:
    """Weights of convolutions, [out, ..., in] here and [out, in, ...] there."""
    return np.moveaxis(array, -1, 1) if array.ndim >= 3 else array


def _from_torch_layout(array: Array) -> Array:
    return np.moveaxis(array, 1, -1) if array.ndim >= 3 else array


def _turned(array: Array, axis: int, image: tuple[int, int, int], order: tuple[int, ...]) -> Array:
    """The axis as an image, its dimensions in another order, flattened again."""
    shape = array.shape
    split = array.reshape(*shape[:axis], *image, *shape[axis + 1 :])
    axes = [*range(axis), *(axis + i for i in order), *range(axis + 3, split.ndim)]
    return split.transpose(axes).reshape(shape)


class Recipe:
    """A model with the settings that train it well.

    graph, batch, epochs, optimizer, lr, ema_decay: the model and those settings.
    data_doc: what `data` takes. makes: what `sample` makes, "images", "texts" or "none".
    """

    def __init__(self, name: str) -> None:
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

    def __repr__(self) -> str:
        return f"<thimble.Recipe {self.name}: {self.doc}>"

    def decoder(self) -> Graph:
        """The part that turns latent codes "z" into an "image"; ValueError where there is none."""
        return _core.recipe_decoder(self.name)

    def schedule(self, steps: int) -> Schedule:
        """Its learning rate over a training of so many steps."""
        return _core.recipe_schedule(self.name, self.lr, steps)

    def trainer(self, **settings: Any) -> Trainer:
        """A trainer with the recipe's optimizer, batch and average of weights, or the settings
        given instead."""
        own = {"optimizer": self.optimizer, "batch": self.batch, "ema_decay": self.ema_decay}
        return Trainer(self.graph, **{**own, **settings})

    def data(self, path: str | os.PathLike[str] = "", split: str = "train") -> Dataset:
        """Its samples: real ones from that folder or file, of which data_doc tells, else the
        built-in ones. split: "train" or "test"."""
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
        the recipe makes none, and where an option means nothing to it or is out of its range.

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
        if isinstance(weights, (str, os.PathLike)):
            return _core.recipe_sample(self.name, os.fspath(weights), options)
        if not isinstance(weights, (Trainer, Weights, Mapping)):
            raise TypeError(
                "weights must be a checkpoint's path, a dictionary of arrays or a Trainer, "
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
                raise type(error)(str(error).replace(file, "weights")) from None

    def to_torch(self, state: Mapping[str, Any]) -> dict[str, Array]:
        """A state dict in PyTorch's layout: torch.nn's weights of the same names (convolutions
        [out, in, kh, kw], in one dimension [out, in, k]; what follows or precedes a flattened
        image in its order; what is tied there under both names)."""
        flattened = _FLATTENED.get(self.name, {})
        out = {}
        for name, tensor in state.items():
            array = _to_torch_layout(as_array(tensor))
            if name in flattened:
                axis, h, w, c = flattened[name]
                array = _turned(array, axis, (h, w, c), (2, 0, 1))
            out[name] = np.ascontiguousarray(array)
        for second, first in _TIED.get(self.name, {}).items():
            if first in out:
                out[second] = out[first]
        return out

    def from_torch(self, state: Mapping[str, Any]) -> dict[str, Array]:
        """The opposite of to_torch: takes a PyTorch state_dict of tensors or arrays. Throws
        ValueError where arrays that the recipe ties differ."""
        flattened = _FLATTENED.get(self.name, {})
        tied = _TIED.get(self.name, {})
        out = {}
        for name, tensor in state.items():
            if name.endswith(_BUFFERS):
                continue
            array = _from_torch_layout(as_array(tensor))
            if name in tied:
                if tied[name] in state and not np.array_equal(array, as_array(state[tied[name]])):
                    raise ValueError(f"{name} differs from {tied[name]}, of which it is a copy")
                continue
            if name in flattened:
                axis, h, w, c = flattened[name]
                array = _turned(array, axis, (c, h, w), (1, 2, 0))
            out[name] = np.ascontiguousarray(array)
        return out


def names() -> list[str]:
    """All recipes."""
    return list(_core.recipe_names())


def recipe(name: str) -> Recipe:
    """The recipe of that name. Throws ValueError that lists the known ones."""
    return Recipe(name)


def __getattr__(name: str) -> Callable[[], Recipe]:
    """Every recipe by its name, those without a function of their own here too."""
    if name not in names():
        raise AttributeError(f"thimble has no recipe {name!r}; there are {', '.join(names())}")
    return lambda: Recipe(name)


def vae() -> Recipe:
    """Variational autoencoder for 28x28 images: input "image"."""
    return Recipe("vae")


def lenet5() -> Recipe:
    """LeNet-5, a classifier of 28x28 images: input "image", label "digit"."""
    return Recipe("lenet5")


def mobilenetv2() -> Recipe:
    """MobileNetV2 of width 0.35 for 96x96 colour images: input "image", label "label"; names of
    weights as torchvision's."""
    return Recipe("mobilenetv2")


def resnet18() -> Recipe:
    """ResNet-18 in its form for CIFAR-10, 32x32 colour images: input "image", label "label"; names
    of weights as torchvision's."""
    return Recipe("resnet18")


def mlp() -> Recipe:
    """Multilayer perceptron 784-512-512-10: input "image", label "digit"."""
    return Recipe("mlp")


def lstm() -> Recipe:
    """Two layers of LSTM over the bytes of a text: input "tokens", label "next", each [64]."""
    return Recipe("lstm")


def gpt() -> Recipe:
    """GPT-2's form of transformer over the bytes of a text: input "tokens", label "next", each
    [256]; names of weights as nanoGPT's."""
    return Recipe("gpt")


def unet_ddpm() -> Recipe:
    """Denoising diffusion of 28x28 images by a U-net: input "image"; sample draws new ones."""
    return Recipe("unet_ddpm")
