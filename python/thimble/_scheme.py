"""Schemes of sparse updates as text."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Union

from ._check import require

Scheme = Union[Mapping[str, Any], str, "os.PathLike[str]"]


def scheme_text(scheme: Scheme | None) -> str:
    """A sparse update as JSON; empty for None."""
    kinds = (Mapping, str, os.PathLike, type(None))
    require("Trainer", scheme=(scheme, (kinds, "a dictionary, or the path of a JSON file")))
    if scheme is None:
        return ""
    if not isinstance(scheme, Mapping):
        with open(scheme, encoding="utf-8") as file:
            return file.read()
    try:
        return json.dumps(dict(scheme))
    except TypeError as error:
        raise ValueError(f"[scheme] cannot be written as JSON: {error}") from None
