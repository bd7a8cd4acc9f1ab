"""Results that are wrong on purpose, which the comparison must notice."""
import numpy as np

from runner import Mismatch, compare

_TRUE = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
_WRONG = {
    "a number": (_TRUE + np.array([[0, 0], [0, 0.01]], np.float32), _TRUE),
    "another order of axes": (_TRUE.T, _TRUE),
    "another shape": (_TRUE.reshape(-1), _TRUE),
    "another type": (_TRUE.astype(np.int32), _TRUE),
    "an integer": (np.array([1, 2]), np.array([1, 3])),
    "not a number": (np.array([np.nan], np.float32), np.array([1.0], np.float32)),
}


def problems() -> list[str]:
    """What was not noticed."""
    missed = []
    for name, (ours, theirs) in _WRONG.items():
        try:
            compare("y", ours, theirs)
        except Mismatch:
            continue
        missed.append(f"the canary {name} was not caught")
    return missed
