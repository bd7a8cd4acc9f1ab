"""Texts as the numbers of tokens, for language models."""

from __future__ import annotations

import importlib
import os
import reprlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from ._arrays import Array
from ._check import TEXT, WHOLE, require

NAME = "tokenizer.json"
TEXTS = (str, bytes)


def load_tokenizer(path: str | os.PathLike[str]) -> Any:
    """The tokenizer of a Hugging Face model, a tokenizers.Tokenizer of the package tokenizers, which reads every kind.
    It neither cuts nor fills up texts, whatever the file says: samples have the tokens that token_samples gives them.
    tb.Tokenizer reads byte-level BPE without that package.

    Args:
        path: a folder with tokenizer.json, or such a file

    Raises ImportError where the package is missing, FileNotFoundError where there is no such file, and RuntimeError naming
    the file where it is damaged.
    """
    try:
        package = importlib.import_module("tokenizers")
    except ImportError as error:
        raise ImportError(
            "[load_tokenizer] the package tokenizers is not installed: pip install tokenizers. Byte-level BPE is read "
            "without it, by thimble.Tokenizer") from error
    file = os.fspath(path)
    if os.path.isdir(file):
        folder, file = file, os.path.join(file, NAME)
        if not os.path.exists(file):
            raise FileNotFoundError(
                f"[load_tokenizer] {folder} has no {NAME}; transformers writes it: "
                "AutoTokenizer.from_pretrained(folder).save_pretrained(folder)")
    elif not os.path.exists(file):
        raise FileNotFoundError(f"[load_tokenizer] there is no file or folder {file}")
    try:
        tokenizer = package.Tokenizer.from_file(file)
    except Exception as error:  # the package raises that class itself
        raise RuntimeError(f"[load_tokenizer] {file}: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _numbers(tokenizer: Any, text: str) -> Array:
    try:
        made = tokenizer.encode(text, add_special_tokens=False)
    except TypeError:  # it has no such setting
        made = tokenizer.encode(text)
    return np.asarray(getattr(made, "ids", made), np.int32)


def token_samples(
    tokenizer: Any, texts: str | Iterable[str], *, tokens: int, input: str = "input_ids", label: str = "next"
) -> dict[str, Array]:
    """Samples for a language model, as "thimble tokenize" writes them: two arrays, i32 [samples, tokens], of the tokens
    of all texts, one after another, and the same shifted by one. What is left at the end is dropped. Special tokens are
    made where their text stands, and none is added.

    Args:
        tokenizer: of load_tokenizer, a thimble.Tokenizer, one of transformers, or anything with encode
        texts: one or several
        tokens: those of a sample, as the model takes them
        input: the name of the first array, the model's input
        label: the name of the second

    Raises ValueError where the texts have too few tokens for one sample.
    """
    require("token_samples", tokens=(tokens, WHOLE), input=(input, TEXT), label=(label, TEXT))
    if tokens < 1:
        raise ValueError(f"[token_samples] tokens must be at least 1, got {tokens}")
    if input == label:
        raise ValueError(f'[token_samples] input and label are both "{input}"; give them names of their own')
    if not isinstance(texts, Iterable):
        raise TypeError(f"[token_samples] texts must be a str or several, got {reprlib.repr(texts)}")
    parts = []
    for text in [texts] if isinstance(texts, TEXTS) else texts:
        require("token_samples", text=(text, (TEXTS, "a str")))
        parts.append(_numbers(tokenizer, text))
    numbers = np.concatenate(parts) if parts else np.empty(0, np.int32)
    samples = (len(numbers) - 1) // tokens
    if samples < 1:
        raise ValueError(f"[token_samples] the texts have {len(numbers)} tokens; a sample needs {tokens} and the one "
                         "behind them")
    made = (numbers[first:first + samples * tokens].reshape(samples, tokens).copy() for first in (0, 1))
    return dict(zip((input, label), made))
