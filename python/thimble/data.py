"""Data sets that come with thimble or are read from files. Anything else is fed as arrays."""

from ._core import (
    Dataset,
    augmented,
    cifar10,
    digits,
    generated_text,
    idx,
    mnist,
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
    "resized",
    "shapes",
    "text",
    "text_of",
]
