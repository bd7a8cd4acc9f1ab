"""Texts as tokens: thimble's byte-level BPE beside the tokenizers package."""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

import numpy as np
import pytest

import thimble as tb

GOLDENS = json.loads((pathlib.Path(__file__).resolve().parents[2] / "tests/io/tokenizer_goldens.json").read_text())
CASES = {case["name"]: case for case in GOLDENS["cases"]}


def written(folder: pathlib.Path, name: str = "gpt2", **changes: object) -> pathlib.Path:
    file = folder / "tokenizer.json"
    file.write_text(json.dumps({**CASES[name]["tokenizer"], **changes}))
    return file


@pytest.mark.parametrize("name", CASES)
def test_tokens_are_those_of_the_package(name: str, tmp_path: pathlib.Path) -> None:
    """The package was asked for these once, so that this runs without it."""
    ours = tb.Tokenizer(written(tmp_path, name))
    for case in CASES[name]["texts"]:
        found = ours.encode(case["text"])
        assert found.dtype == np.int32 and found.tolist() == case["ids"]
        assert ours.decode(found) == ours.decode(case["ids"]) == case["decoded"]
    assert ours.size > max(max(case["ids"], default=0) for case in CASES[name]["texts"])
    with pytest.raises(ValueError, match="999999"):
        ours.decode([999999])


@pytest.mark.parametrize("name", CASES)
def test_the_package_reads_the_same_file(name: str, tmp_path: pathlib.Path) -> None:
    package = pytest.importorskip("tokenizers")
    file = written(tmp_path, name)
    ours = tb.Tokenizer(file)
    texts = [case["text"] for case in CASES[name]["texts"]]
    for theirs in (tb.load_tokenizer(tmp_path), tb.load_tokenizer(str(file))):
        assert isinstance(theirs, package.Tokenizer)
        for text in [*texts, pathlib.Path(__file__).read_text()]:
            ids = theirs.encode(text, add_special_tokens=False).ids
            assert ours.encode(text).tolist() == ids
            assert ours.decode(ids) == theirs.decode(ids)
        mine, other = (tb.token_samples(each, texts, tokens=7) for each in (ours, theirs))
        assert set(mine) == set(other) == {"input_ids", "next"}
        for field in mine:
            np.testing.assert_array_equal(mine[field], other[field])


def test_what_a_file_cuts_is_read_whole(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("tokenizers")
    cut = {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0}
    written(tmp_path, truncation=cut)
    assert len(tb.load_tokenizer(tmp_path).encode("the world, the other weather").ids) > 2


def test_bytes_that_are_no_text_are_tokens_too(tmp_path: pathlib.Path) -> None:
    tokenizer = tb.Tokenizer(written(tmp_path))
    made = tokenizer.encode(b"the \xff")
    assert made.tolist()[:1] == tokenizer.encode("the").tolist()
    assert tokenizer.decode(made) == "the \ufffd"


def test_samples_are_of_all_texts_and_shifted_by_one(tmp_path: pathlib.Path) -> None:
    tokenizer = tb.Tokenizer(written(tmp_path))
    texts = ["the theatre of the world", "the other weather"]
    numbers = [*tokenizer.encode(texts[0]), *tokenizer.encode(texts[1])]
    made = tb.token_samples(tokenizer, texts, tokens=3, input="x", label="y")
    count = (len(numbers) - 1) // 3
    assert made["x"].tolist() == np.reshape(numbers[:count * 3], (count, 3)).tolist()
    assert made["y"].tolist() == np.reshape(numbers[1:count * 3 + 1], (count, 3)).tolist()
    with pytest.raises(ValueError, match="the texts have 1 tokens; a sample needs 3 and the one behind them"):
        tb.token_samples(tokenizer, "a", tokens=3)
    with pytest.raises(ValueError, match="tokens must be at least 1, got 0"):
        tb.token_samples(tokenizer, "a", tokens=0)
    with pytest.raises(TypeError, match="tokens must be a whole number, got 1.5"):
        tb.token_samples(tokenizer, "a", tokens=1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("texts,names,error,message", [
    (5, {}, TypeError, "texts must be a str or several, got 5"),
    (["a", 5], {}, TypeError, "text must be a str, got 5"),
    ("aaaa", {"label": "input_ids"}, ValueError, 'input and label are both "input_ids"'),
    ("aaaa", {"input": 3}, TypeError, "input must be a str, got 3"),
])
def test_no_texts_and_names_are_refused(texts: Any, names: dict[str, Any], error: type[Exception], message: str) -> None:
    class Letters:
        def encode(self, text: str) -> list[int]:
            return [ord(letter) for letter in text]

    with pytest.raises(error, match=rf"\[token_samples\] {message}"):
        tb.token_samples(Letters(), texts, tokens=1, **names)


def test_a_model_reads_the_samples(tmp_path: pathlib.Path) -> None:
    tokenizer = tb.Tokenizer(written(tmp_path))
    samples = tb.token_samples(tokenizer, "the theatre of the world. " * 30, tokens=8)
    g = tb.Graph()
    h = tb.embedding(g.input("input_ids", (8,), dtype="i32"), embeddings=tokenizer.size, width=16)
    g.output("logits", tb.dense(h, units=tokenizer.size))
    trainer = tb.Trainer(tb.adapt(g, loss="softmax_cross_entropy", label="next"), optimizer=tb.AdamW(lr=3e-2), batch=4)
    assert trainer.fit(samples, epochs=10).epochs[-1].train.loss < 1


def test_what_is_missing_is_named(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for refused in (tmp_path / "none.json", tmp_path):
        with pytest.raises((FileNotFoundError, RuntimeError)):
            tb.Tokenizer(refused)
    file = written(tmp_path, normalizer={"type": "NFC"})
    with pytest.raises(RuntimeError, match="normalizer: thimble has none; the tokenizers package"):
        tb.Tokenizer(file)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(ImportError, match="pip install tokenizers"):
        tb.load_tokenizer(tmp_path)


def test_the_package_says_what_is_damaged(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("tokenizers")
    with pytest.raises(FileNotFoundError, match=r"has no tokenizer\.json; transformers writes it"):
        tb.load_tokenizer(tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no file or folder"):
        tb.load_tokenizer(tmp_path / "none")
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(RuntimeError, match=r"tokenizer\.json: "):
        tb.load_tokenizer(tmp_path)
