"""Data sets that come with thimble or are read from files. Anything else is fed as arrays.

Errors: ValueError for an argument out of its range, FileNotFoundError where no file or folder has
that name, RuntimeError where a folder lacks the files or one is damaged.
"""

from ._core import (
    Dataset,
    augmented,
    cifar10,
    digits,
    generated_text,
    idx,
    mnist,
    open,
    resized,
    shapes,
    text,
    text_of,
)

__all__ = [
    "Dataset",
    "augmented",
    "cifar10",
    "digits",
    "generated_text",
    "idx",
    "mnist",
    "open",
    "resized",
    "shapes",
    "text",
    "text_of",
]
