"""Functions of ops whose form in Python is PyTorch's own, not that of the definition in C++."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._calls import call
from ._core import Value

__all__ = ["einsum", "split"]

_MOST_OPERANDS = 4


def einsum(*operands: Any, equation: str = "") -> Any:
    """Sums of products by the names of axes: "btd,de->bte" multiplies every step by a matrix; "ij->ji"
    transposes, "ij->i" sums rows. Equal to torch.einsum.

    Args:
        operands: one to four tensors of any shape, or a list of them; before them the equation,
            unless it is given by its name
        equation: "btd,de->bte": the axes of the operands and of the result
    Returns:
        y: the axes behind ->
    Example:
        y = tb.einsum("btd,de->bte", x, weight)
    """
    given = list(operands)
    if not equation and given and isinstance(given[0], str):
        equation = given.pop(0)
    if not equation or not isinstance(equation, str):
        raise ValueError('[einsum] the equation is missing: einsum("btd,de->bte", x, weight)')
    if len(given) == 1 and isinstance(given[0], (list, tuple)):
        given = list(given[0])
    if not 1 <= len(given) <= _MOST_OPERANDS:
        raise ValueError(f"[einsum] expected 1 to {_MOST_OPERANDS} tensors, got {len(given)}")
    given += [None] * (_MOST_OPERANDS - len(given))
    return call("einsum", tuple(given), {"equation": equation})


def split(
    x: Any, axis: int = -1, sizes: int | Sequence[int] = (), *, parts: int | None = None
) -> list[Any]:
    """The parts of x along an axis: the opposite of concat. Either sizes or parts is given.

    Args:
        x: any type and shape
        axis: the axis that is cut
        sizes: of the parts along the axis; one number is the size of every part, and the last part may
            be smaller, as in torch.split
        parts: the number of equal parts; the last ones may be smaller or missing, as in torch.chunk
    Returns:
        parts: of the given sizes along the axis
    Example:
        parts = tb.split(x, axis=-1, sizes=[16, 16])
    """
    if (parts is None) == (not isinstance(sizes, int) and len(sizes) == 0):
        raise ValueError(
            "[split] give the sizes of the parts, split(x, axis=1, sizes=[2, 3]), or their number, "
            f"split(x, axis=1, parts=2); got axis={axis!r}, sizes={sizes!r}, parts={parts!r}"
        )
    if parts is None and not isinstance(sizes, int):
        return list(call("split", (x,), {"axis": axis, "sizes": sizes}))
    number, what = (sizes, "sizes") if parts is None else (parts, "parts")
    if not isinstance(number, int) or number < 1:
        raise ValueError(f"[split] {what} must be 1 or more, got {number!r}")
    shape = x.shape if isinstance(x, Value) or hasattr(x, "shape") else ()
    if not -len(shape) <= axis < len(shape):
        raise ValueError(f"[split] there is no axis {axis} in {list(shape)}")
    total = shape[axis]
    if total < 0:
        raise ValueError("[split] the open batch cannot be cut")
    size = number if parts is None else max(1, -(-total // number))
    cut = [min(size, total - start) for start in range(0, total, size)] or [0]
    return list(call("split", (x,), {"axis": axis, "sizes": tuple(cut)}))
