"""Core ATen operators that are refused, and why."""

from __future__ import annotations

_GRADIENT = "a gradient that PyTorch computes; give the module, whose gradients thimble derives"
_COMPLEX = "thimble has no complex numbers"

REFUSED = {
    **dict.fromkeys((
        "_adaptive_avg_pool2d_backward", "avg_pool2d_backward", "convolution_backward", "embedding_dense_backward",
        "max_pool2d_with_indices_backward", "native_group_norm_backward", "native_layer_norm_backward",
    ), _GRADIENT),
    "_fft_c2r": _COMPLEX,
    "_fft_r2c": _COMPLEX,
    "_local_scalar_dense": "a number that is read from a tensor depends on the data",
    "nonzero": "the size of its result depends on the data",
    "randperm": "thimble has no random permutations",
}

# No core operators, but met in models.
REFUSED_OTHERS = {"bernoulli": "thimble imports dropout, but no masks that forward draws itself"}

# torch.export makes as_strided of these.
WRITTEN_OTHERWISE = ("resize_",)

# Of shapes: they give numbers, which are read where they are needed.
SIZES = ("sym_is_contiguous", "sym_numel", "sym_size", "sym_storage_offset", "sym_stride")
