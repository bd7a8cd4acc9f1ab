#!/usr/bin/env bash
# Compiles the C++ examples of pages: the blocks of one page, in order, each inside the one before, so
# that a block sees what earlier ones declared.
# usage: snippets.sh SOURCE_DIR INCLUDE_DIR CXX PAGE...
set -euo pipefail
source_dir=$1 generated=$2 compiler=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check() { # COMPILER OPTIONS...
  "$compiler" -std=c++20 -Wall -Wextra -Wno-unused-variable -Wno-unused-but-set-variable \
    -Wno-missing-field-initializers -Wno-shadow -I "$source_dir/include" -I "$generated" "$@"
}

# What all pages include is read once.
printf '#include <%s>\n' thimble/thimble.h algorithm cmath iostream >"$work/common.h"
check -x c++-header "$work/common.h" -o "$work/common.h.gch"

page_as_program() { # PAGE
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
  check -fsyntax-only -include "$work/common.h" "$work/page.cpp"
done
