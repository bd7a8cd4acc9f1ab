#!/usr/bin/env python3
"""Gathers the pages of the documentation site: those of the repository as they are, and pages written
from the public headers and from the Python package.

usage: site.py OUT [PACKAGE]
    OUT: gets pages/ and mkdocs.yml
    PACKAGE: the folder python/thimble of a build; without it the site has no pages of the Python API
"""

import pathlib
import re
import shutil
import sys

import site_cpp
import site_python

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE", "bench/RESULTS.md"]


def with_deep_lists(text):
    """Blocks inside an item of a list, as MkDocs wants them: indented by four columns, and with an
    empty line before the next item."""
    lines, width, in_code, has_blocks = [], 0, False, False
    for line in text.split("\n"):
        marker = re.match(r"(-|\d+\.) ", line)
        if line.startswith("```"):
            in_code = not in_code
        if marker and not in_code:
            if has_blocks and lines[-1]:
                lines.append("")
            width, has_blocks = len(marker[0]), False
        elif line and not line.startswith(" " * max(width, 1)):
            width, has_blocks = 0, False
        elif line and width and not in_code:
            has_blocks = has_blocks or not lines[-1]
            line = " " * (4 - width) + line
        lines.append(line)
    return "\n".join(lines)


def for_the_site(text, page, out):
    """The text of a page, with the syntax that GitHub knows and MkDocs does not replaced."""
    text = with_deep_lists(text)
    # ```cpp file=op.h
    text = re.sub(r"^(```\w+) file=(\S+)$", r'\1 title="\2"', text, flags=re.M)

    def link(match):
        target, anchor = match[1], match[2] or ""
        if (out / page.parent / target / "README.md").exists():
            target = f"{target.rstrip('/')}/README.md"
        return f"]({target}{anchor})"

    return re.sub(r"\]\(((?!https?:)[^)#\s]+)(#[^)\s]*)?\)", link, text)


def copy(page, out):
    target = out / page
    target.parent.mkdir(parents=True, exist_ok=True)
    if page.suffix == ".md":
        target.write_text(for_the_site((ROOT / page).read_text("utf-8"), page, out), "utf-8")
    else:
        shutil.copyfile(ROOT / page, target)


def navigation(entries, indent):
    """YAML of the navigation: (title, path) or (title, entries) each."""
    lines = []
    for title, value in entries:
        if isinstance(value, str):
            lines.append(f"{indent}- '{title}': {value}")
        else:
            lines += [f"{indent}- '{title}':", navigation(value, indent + "    ")]
    return "\n".join(lines)


def main(out, package=None):
    shutil.rmtree(out / "pages", ignore_errors=True)
    generated = [("C++ API", site_cpp.write(ROOT, out / "pages"))]
    if package:
        generated.insert(0, ("Python API", site_python.write(package, out / "pages")))
    docs = [path.relative_to(ROOT) for path in sorted((ROOT / "docs").rglob("*")) if path.is_file()]
    unwanted = {"docs/site/mkdocs.yml", "docs/site/requirements.txt"}
    for page in [pathlib.Path(name) for name in PAGES] + docs:
        if str(page) not in unwanted:
            copy(page, out / "pages")

    records = [(path.stem.replace("-", " "), f"docs/adr/{path.name}")
               for path in sorted((ROOT / "docs/adr").glob("*.md")) if path.stem != "README"]
    config = (ROOT / "docs/site/mkdocs.yml").read_text("utf-8")
    for comment, entries in (("  # APIs", generated), ("          # decision records", records)):
        assert f"\n{comment}\n" in config, f"docs/site/mkdocs.yml: no line {comment!r}"
        config = config.replace(comment, navigation(entries, comment[:comment.index("#")]))
    config += f"docs_dir: {out.resolve() / 'pages'}\nsite_dir: {out.resolve() / 'html'}\n"
    (out / "mkdocs.yml").write_text(config, "utf-8")


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    main(*(pathlib.Path(argument) for argument in sys.argv[1:]))
