"""What adapters share: PyTorch's layouts and conventions in terms of thimble's."""
from typing import Any

import torch

import thimble as tb
from registry import FLOAT64, Refused

# thimble's names of PyTorch's element types.
DTYPES = {
    torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16", torch.int32: "i32",
    torch.int64: "i32", torch.int8: "i8", torch.uint8: "u8",
}


def dtype_name(dtype: torch.dtype) -> str:
    if dtype == torch.float64:
        raise Refused(FLOAT64)
    return DTYPES[dtype]


def only_f32(dtype: torch.dtype | None) -> None:
    """The dtype= of PyTorch's reductions: their type in thimble is that of their input."""
    if dtype not in (None, torch.float32):
        dtype_name(dtype)
        raise TypeError(f"dtype {dtype}")


def is_value(x: Any) -> bool:
    return isinstance(x, tb.Value)


def f32(x: Any) -> Any:
    """x as PyTorch promotes it beside float32."""
    return tb.cast(x, "f32") if is_value(x) and x.dtype != "f32" else x


def vector(x: Any) -> Any:
    """A single number as a vector of one: PyTorch gives it an axis 0; thimble, as NumPy, does not."""
    return tb.reshape(x, (1,)) if x.ndim == 0 else x


def like(y: Any, x: Any) -> Any:
    """The result of an op on vector(x), in the shape PyTorch gives it for x."""
    return tb.reshape(y, ()) if x.ndim == 0 else y


def wrapped(index: Any, size: int) -> Any:
    """Indices of which negative ones count from the end, as thimble's ops want them."""
    number = tb.cast(index, "f32")
    return tb.cast(tb.where(number < 0, number + size, number), "i32")


def moved(x: Any, source: int, target: int) -> Any:
    axes = list(range(x.ndim))
    axes.insert(target % x.ndim, axes.pop(source % x.ndim))
    return tb.transpose(x, axes) if axes != sorted(axes) else x


def channels_last(x: Any, dims: int | None = None) -> Any:
    """[N, C, ...] to [N, ..., C]; with dims, the number of the image's, the batch may be missing."""
    return moved(x, 1 if dims is None else -dims - 1, -1)


def channels_first(x: Any, dims: int | None = None) -> Any:
    """The reverse."""
    return moved(x, -1, 1 if dims is None else -dims - 1)


def pair(value: Any) -> Any:
    """PyTorch's 3, [3], [3, 4] as thimble takes them; None and [] as None."""
    if value is None or value == [] or value == ():
        return None
    if isinstance(value, (tuple, list)):
        return value[0] if len(value) == 1 else tuple(value)
    return value


def single(value: Any) -> Any:
    return value[0] if isinstance(value, (tuple, list)) else value


REDUCTIONS = {"mean": "mean", "sum": "sum", "none": "none", "batchmean": "batch_mean"}
