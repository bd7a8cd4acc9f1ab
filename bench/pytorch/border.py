"""The border between thimble and PyTorch: arrays in safetensors files, turned from one layout to
the other. thimble keeps images as (height, width, channels), PyTorch as (channels, height, width)."""
import importlib

import numpy as np
import torch
from safetensors import safe_open


def read(path):
    """All arrays of a file and its metadata."""
    with safe_open(path, framework="np") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}


def part(arrays, prefix):
    """The arrays whose names begin with prefix, without it."""
    return {name[len(prefix):]: array for name, array in arrays.items() if name.startswith(prefix)}


def field_to_torch(array):
    """A field of several samples: images [N, H, W, C] as [N, C, H, W], whole numbers as int64."""
    if array.ndim == 4:
        return images_to_torch(array)
    tensor = torch.from_numpy(array)
    return tensor.long() if array.dtype == np.int32 else tensor


def images_to_torch(images):
    """[N, H, W, C] to [N, C, H, W]."""
    count, height, width, channels = images.shape
    # A copy: with the strides of one channel, both layouts at once, PyTorch would take the images
    # for channels_last, whose batch norm sums in float32 and loses three digits.
    turned = torch.empty(count, channels, height, width, dtype=torch.from_numpy(images).dtype)
    return turned.copy_(torch.from_numpy(images).permute(0, 3, 1, 2))


def weight_to_torch(name, array, flattened):
    if array.ndim >= 3:  # [out, height, width, in] of a convolution, [out, steps, in] of a 1-D one
        array = np.moveaxis(array, -1, 1)
    elif name in flattened:
        axis, *image = flattened[name]
        shape = array.shape
        array = array.reshape(*shape[:axis], *image, *shape[axis + 1:])
        array = np.moveaxis(array, axis + 2, axis).reshape(shape)
    return np.ascontiguousarray(array)


def weight_to_thimble(name, array, flattened):
    if array.ndim >= 3:
        array = np.moveaxis(array, 1, -1)
    elif name in flattened:
        axis, height, width, channels = flattened[name]
        shape = array.shape
        array = array.reshape(*shape[:axis], channels, height, width, *shape[axis + 1:])
        array = np.moveaxis(array, axis, axis + 2).reshape(shape)
    return np.ascontiguousarray(array)


def tensors_of(model):
    """Every parameter and running statistic; shared ones have their first name."""
    tensors = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    return {name: x for name, x in tensors.items() if not name.endswith("num_batches_tracked")}


def load_weights(model, weights):
    """Sets every parameter and running statistic from thimble's."""
    state = {name: torch.from_numpy(weight_to_torch(name, array, model.flattened))
             for name, array in weights.items()}
    _, unexpected = model.load_state_dict(state, strict=False)
    missing = [name for name in tensors_of(model) if name not in state]
    if missing or unexpected:
        raise SystemExit(f"the models differ: thimble lacks {missing}, PyTorch lacks {unexpected}")


def names(metadata, key):
    """The data set's fields in order (key "fields"), or those stored as bytes (key "bytes")."""
    return [name for name in metadata[key].split(",") if name]


def weights_of(model):
    """Every parameter and running statistic, in thimble's layout."""
    return {name: weight_to_thimble(name, tensor.detach().numpy(), model.flattened)
            for name, tensor in tensors_of(model).items()}


def recipe(name):
    """The module of a recipe: Model, optimizer, schedule."""
    return importlib.import_module(name)
