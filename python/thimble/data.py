"""Data sets that come with thimble or are read from files. Anything else is fed as arrays."""

from ._core import Dataset, digits, idx, mnist

__all__ = ["Dataset", "digits", "idx", "mnist"]
