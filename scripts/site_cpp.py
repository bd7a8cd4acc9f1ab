"""Pages of the documentation site from the public headers: every declaration with its comment."""

import re

ESCAPED = re.compile(r"([\\`*_<>\[\]|#])")


def declarations(text):
    """(the header's first comment, [(comment, code), ...]) of a header's namespace thimble."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    lead, found, comment, code = [], [], [], []
    depth = 0  # of braces and parentheses inside a declaration
    seen_namespace = False
    for line in lines:
        if re.match(r"(inline )?namespace ", line) or (not code and line.startswith("}")):
            seen_namespace = True
            comment = []
            continue
        if not code and line.startswith("//"):
            (comment if seen_namespace else lead).append(line)
            continue
        if not code and not line.strip():
            comment = []
            continue
        code.append(line)
        bare = re.sub(r'//.*|"(\\.|[^"\\])*"', "", line)
        depth += sum(bare.count(c) for c in "{(") - sum(bare.count(c) for c in "})")
        if depth == 0 and bare.rstrip().endswith((";", "}")):
            # A forward declaration says nothing to a reader; neither does what is for the library.
            if len(code) > 1 or not re.match(r"(class|struct) \w+;|void describe\(", code[0]):
                found.append((comment, code))
            comment, code = [], []
    return lead, found


def prose(comment):
    """Comment lines as Markdown: paragraphs of flowing text; indented lines stay as they are."""
    out, formula = [], []

    def end_of_formula():
        if formula:
            out.extend(["", "```text", *formula, "```", ""])
            formula.clear()

    for line in comment:
        line = re.sub(r"^// ?", "", line)
        if line.startswith("  ") and line.strip():
            # A formula's first line stands before those that are indented below it.
            if not formula and out and not out[-1].endswith((".", ":")) and out[-1]:
                formula.append(re.sub(r"\\(.)", r"\1", out.pop()))
            formula.append(line)
            continue
        end_of_formula()
        if re.match(r"(Errors|Error|Source|Thread safety|Returns|Shapes|[a-z_]+(, [a-z_]+)*): ", line):
            out.append("")
        out.append(ESCAPED.sub(r"\\\1", line))
    end_of_formula()
    return "\n".join(out).strip()


def name_of(code):
    text = " ".join(code)
    if match := re.search(r"\b(?:class|struct|enum class|enum)\s+(\w+)", text.split("(")[0]):
        return match[1]
    if match := re.match(r"using (\w+)", text):
        return match[1]
    if match := re.search(r"(operator\S+?|\w+)\s*\(", text):
        return match[1]
    match = re.search(r"(\w+)\s*(?:=|;|\{)", text)
    return match[1] if match else text


def without_the_private(code):
    """A class without its private part."""
    if "private:" not in "\n".join(code):
        return code
    start = next(i for i, line in enumerate(code) if line.strip() == "private:")
    while not code[start - 1].strip():
        start -= 1
    return code[:start] + code[-1:]


def page(title, text, level):
    """A header as Markdown: its comment, then each declaration."""
    lead, found = declarations(text)
    lines = [f"{'#' * level} {title}", "", prose(lead), ""]
    before = None
    for comment, code in found:
        name = name_of(code)
        if level == 1 and name != before:
            lines += [f"## {name.replace('_', chr(92) + '_')}", ""]
        before = name
        lines += [prose(comment), "", "```cpp", *without_the_private(code), "```", ""]
    return "\n".join(lines)


def write(root, out):
    """Writes the pages below out; returns their navigation."""
    folder = out / "include/thimble"
    folder.mkdir(parents=True)
    headers = sorted((root / "include/thimble").glob("*.h"))
    table, entries = [], []
    for header in headers:
        text = header.read_text("utf-8")
        (folder / f"{header.stem}.md").write_text(page(f"thimble/{header.name}", text, 1), "utf-8")
        lead = prose(declarations(text)[0]).replace("\n", " ")
        table.append(f"| [`thimble/{header.name}`]({header.stem}.md) | {lead} |")
        entries.append((header.name, f"include/thimble/{header.stem}.md"))

    ops = ["# thimble/ops.h", "", "The functions of all ops and layers. Each stands in a header of its",
           "own, `thimble/ops/<op>.h`; `thimble/ops.h` includes them all. Formulas and attributes of",
           "every op stand in [the reference](../../docs/reference/ops.md).", ""]
    for header in sorted((root / "src/ops").glob("*/op.h")):
        ops.append(page(header.parent.name.replace("_", "\\_"), header.read_text("utf-8"), 2))
    (folder / "ops.md").write_text("\n".join(ops), "utf-8")
    table.append("| [`thimble/ops.h`](ops.md) | All ops and layers. |")

    (folder / "README.md").write_text("\n".join([
        "# C++ API", "", "`#include <thimble/thimble.h>` includes all of it. The names stand in the",
        "namespace `thimble`. Each header can also be included alone.", "",
        "| header | what it declares |", "| --- | --- |", *table, ""]), "utf-8")
    return [("Overview", "include/thimble/README.md"), *entries, ("ops.h", "include/thimble/ops.md")]
