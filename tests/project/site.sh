#!/usr/bin/env bash
# The pages of the documentation site that are written from the headers, without building the site.
# usage: site.sh SOURCE_DIR PYTHON
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$2" -B "$1/scripts/site.py" "$work"

status=0
expect() { # TEXT FILE
  grep -qxF -e "$1" "$work/$2" || { echo "$2 lacks the line: $1" >&2; status=1; }
}
for header in "$1"/include/thimble/*.h; do
  name=$(basename "$header" .h)
  expect "# thimble/$name.h" "pages/include/thimble/$name.md"
  expect "      - '$name.h': include/thimble/$name.md" mkdocs.yml
done
for folder in "$1"/src/ops/*/op.h; do
  expect "## $(basename "$(dirname "$folder")" | sed 's/_/\\_/g')" pages/include/thimble/ops.md
done
for record in "$1"/docs/adr/0*.md; do
  grep -qF "docs/adr/$(basename "$record")" "$work/mkdocs.yml" || {
    echo "mkdocs.yml lacks $record" >&2
    status=1
  }
done
# A table inside an item of a list, and the next item.
page=$work/pages/docs/architecture.md
if ! grep -q '^    | folder of .plan. |' "$page" || ! grep -B 1 '^6\. ' "$page" | grep -qx ''; then
  echo "a table inside a list is no part of the list" >&2
  status=1
fi
# A declaration with its comment; what is private stays out.
expect "## Graph" pages/include/thimble/graph.md
expect "  void minimize(Value loss);" pages/include/thimble/graph.md
if grep -q "private:" "$work"/pages/include/thimble/*.md; then
  echo "the pages show private members" >&2
  status=1
fi
exit "$status"
