"""Writes tokenizer_goldens.json: small byte-level BPE tokenizers of the tokenizers package and what they make of texts.

usage: python tests/io/tokenizer_goldens.py     with tokenizers installed
"""

from __future__ import annotations

import json
import pathlib

import tokenizers
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

OUT = pathlib.Path(__file__).with_suffix(".json")
END = "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}%s| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
CASES = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
CORPUS = ["the theatre of the world, the other weather; that's what they're there for! We'll see 1234 and 56789.",
          "def f(x):\n    return x + 1\n\n\nclass Thing:\n\tpass  # nothing", "größer über Öl, naïve café, 東京 は 日本の首都",
          "números пример مثال उदाहरण 🙂🙂 ok"] * 4
TEXTS = ["", " ", "the", " the", "the  theatre", "They're THERE'S I'M we'Ll 'tis don't", "a1b22c333d4444 ٣٤٥ Ⅻ ½",
         "  leading and trailing  ", "tabs\t\tand\nlines\r\n\r\nend\n", "x = [1, 2,3]; // ok?!\n\n   y", "größer ÜBER naïve",
         "日本の首都は東京", "🙂👩‍👩‍👧 e\u0301", "a\u00a0b\u3000c", "<|end|>the<|end|>", "the<|keep|> world", "!!!???...\n\n\nnext",
         "\u017fs 'S 'ſ", "zzz qqq", "   \n  x", "\n\n  \n", "a" * 40]


def trained(split: object, leads: bool, ignores: bool) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(ignore_merges=ignores))
    tokenizer.pre_tokenizer = split
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=330, special_tokens=["<|end|>"], show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.add_tokens(["<|keep|>"])
    return tokenizer


def split(digits: str) -> object:
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(CASES + END % digits), "isolated", invert=False),
                                    pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def main() -> None:
    made = {"gpt2": trained(pre_tokenizers.ByteLevel(add_prefix_space=False), False, False),
            "gpt2_leading_space": trained(pre_tokenizers.ByteLevel(add_prefix_space=True), True, False),
            "llama3": trained(split("{1,3}"), False, True), "qwen2": trained(split(""), False, False)}
    cases = []
    for name, tokenizer in made.items():
        texts = [{"text": text, "ids": tokenizer.encode(text, add_special_tokens=False).ids} for text in TEXTS]
        for each in texts:
            each["decoded"] = tokenizer.decode(each["ids"])
        cases.append({"name": name, "tokenizer": json.loads(tokenizer.to_str()), "texts": texts})
    lines = ",\n".join(json.dumps(case, ensure_ascii=True, separators=(",", ":")) for case in cases)
    OUT.write_text(f'{{"tokenizers":"{tokenizers.__version__}","cases":[\n{lines}\n]}}\n')
    print(OUT, OUT.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
