#!/usr/bin/env bash
# Every installed header compiles without another, twice in one file, without warnings, and includes
# nothing but the standard library and its own kind. Headers that bring the same headers share a file,
# in both orders: each is before each other once, so that none needs another.
# usage: public_headers.sh COMPILER INCLUDE-FOLDER
set -euo pipefail
compiler=$1
cd "$2"
mapfile -t headers < <(find thimble -name '*.h' | sort)
[ ${#headers[@]} -gt 0 ] || { echo "no headers below $2/thimble" >&2; exit 1; }

# A standard header has neither a folder nor a suffix.
if grep -nHE '^ *# *include' "${headers[@]}" |
  grep -vE 'include <(thimble/[a-z0-9_/]+\.h|[a-z_]+)>'; then
  echo "public headers may include <thimble/...> and the standard library only" >&2
  exit 1
fi

# A line for each set of headers that others bring, directly or not: the headers that bring this set.
mapfile -t groups < <(
  grep -HE '^ *# *include' "${headers[@]}" | sed -E 's/^([^:]*):[^<]*<([^>]*)>.*/\1 \2/' |
    awk -v all="${headers[*]}" '
      function bring(header, list,   i, count, names) {
        count = split(list, names, " ")
        for (i = 1; i <= count; ++i) {
          if ((header, names[i]) in brought) continue
          brought[header, names[i]] = 1
          bring(header, direct[names[i]])
        }
      }
      { direct[$1] = direct[$1] " " $2; included[$2] = 1 }
      END {
        count = split(all, headers, " ")
        for (h = 1; h <= count; ++h) {
          bring(headers[h], direct[headers[h]])
          set = ""
          for (name in included) if ((headers[h], name) in brought) set = set " " name
          of[set] = of[set] " " headers[h]
        }
        for (set in of) print substr(of[set], 2)
      }'
)

# Most headers bring graph.h: it is read once.
common=$(mktemp -d)
trap 'rm -rf "$common"' EXIT
echo '#include <thimble/graph.h>' >"$common/graph.h"
check() { # COMPILER OPTIONS...
  "$compiler" -std=c++20 -Wall -Wextra -Wpedantic -Wno-missing-field-initializers -I . "$@"
}
check -x c++-header "$common/graph.h" -o "$common/graph.h.gch"

compile() { # HEADER...
  local includes=() header
  if grep -q '^# *include <thimble/graph.h>' "$1"; then includes=(-include "$common/graph.h"); fi
  for header in "$@" "$@"; do includes+=(-include "$header"); done
  check -fsyntax-only "${includes[@]}" -x c++ /dev/null ||
    { echo "one of these does not compile: $*" >&2; return 255; }
}
export -f check compile
export common compiler
# shellcheck disable=SC2016
for group in "${groups[@]}"; do
  echo "$group"
  if [[ $group = *' '* ]]; then tr ' ' '\n' <<<"$group" | tac | paste -sd ' '; fi
done | xargs -P "$(nproc)" -I {} bash -c 'compile $1' compile {}
echo "${#headers[@]} headers compile alone"
