"""Writes src/io/tokenizer/unicode_classes.h: which characters are letters and numbers.
usage: python3 scripts/unicode_classes.py"""

import pathlib
import sys
import unicodedata

OUT = pathlib.Path(__file__).resolve().parent.parent / "src/io/tokenizer/unicode_classes.h"
HEAD = """// Letters and numbers of Unicode {version}, as ranges of code points. Written by
// scripts/unicode_classes.py.
#pragma once

#include <cstdint>

namespace thimble::io {{

struct CodeRange {{
  uint32_t first, last;
}};
"""


def ranges(kind: str) -> list[tuple[int, int]]:
    """The ranges of code points of a major category."""
    found: list[tuple[int, int]] = []
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code))[0] != kind:
            continue
        if found and found[-1][1] == code - 1:
            found[-1] = (found[-1][0], code)
        else:
            found.append((code, code))
    return found


def main() -> None:
    text = HEAD.format(version=unicodedata.unidata_version)
    for name, kind in (("kLetters", "L"), ("kNumbers", "N")):
        items = [f"{{0x{a:x}, 0x{b:x}}}" for a, b in ranges(kind)]
        lines = [", ".join(items[i : i + 4]) for i in range(0, len(items), 4)]
        body = ",\n    ".join(lines) + "};"
        text += f"\n// clang-format off\ninline constexpr CodeRange {name}[] = {{\n    {body}\n// clang-format on\n"
    OUT.write_text(text + "\n}  // namespace thimble::io\n")
    print(OUT)


if __name__ == "__main__":
    main()
