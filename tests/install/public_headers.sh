#!/usr/bin/env bash
# Every installed header compiles without another, twice in one file, without warnings, and includes
# nothing but the standard library and its own kind. Headers of equal includes share a file, in both
# orders: each is before each other once, so that none needs another.
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

# A line for each set of includes: its headers.
mapfile -t groups < <(
  for header in "${headers[@]}"; do
    printf '%s\t%s\n' "$(grep -hE '^ *# *include' "$header" | sort | tr '\n' ' ')" "$header"
  done | awk -F '\t' '{ of[$1] = of[$1] " " $2 } END { for (set in of) print substr(of[set], 2) }'
)

compile() { # HEADER...
  local includes=() header
  for header in "$@" "$@"; do includes+=(-include "$header"); done
  "$compiler" -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Wno-missing-field-initializers \
    -I . "${includes[@]}" -x c++ /dev/null ||
    { echo "one of these does not compile: $*" >&2; return 255; }
}
export -f compile
export compiler
# shellcheck disable=SC2016
for group in "${groups[@]}"; do
  echo "$group"
  if [[ $group = *' '* ]]; then tr ' ' '\n' <<<"$group" | tac | paste -sd ' '; fi
done | xargs -P "$(nproc)" -I {} bash -c 'compile $1' compile {}
echo "${#headers[@]} headers compile alone"
