#!/usr/bin/env bash
# Compiles the C++ examples of pages: the blocks of one page, in order, each inside the one before, so
# that a block sees what earlier ones declared.
# usage: snippets.sh SOURCE_DIR INCLUDE_DIR CXX PAGE...
set -euo pipefail
source_dir=$1 generated=$2 compiler=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

page_as_program() { # PAGE
  printf '#include <thimble/thimble.h>\n#include <algorithm>\n#include <cmath>\n#include <iostream>\n'
  printf 'namespace tb = thimble;\n[[maybe_unused]] static void page(tb::Graph g) {\n'
  printf 'static_cast<void>(g);\n'
  awk -v page="$1" '
    /^```cpp$/ { inside = 1; depth++; print "{"; print "#line " NR + 1 " \"" page "\""; next }
    /^```$/ && inside { inside = 0; next }
    inside { print }
    END { while (depth-- > 0) print "}"; print "}" }' "$1"
}

for page in "$@"; do
  page_as_program "$source_dir/$page" >"$work/page.cpp"
  grep -q '^#line' "$work/page.cpp" || { echo "$page: no C++ block" >&2; exit 1; }
  "$compiler" -std=c++20 -fsyntax-only -Wall -Wextra -Wno-unused-variable \
    -Wno-unused-but-set-variable -Wno-missing-field-initializers -Wno-shadow \
    -I "$source_dir/include" -I "$generated" "$work/page.cpp"
done
