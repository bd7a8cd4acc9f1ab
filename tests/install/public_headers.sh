#!/usr/bin/env bash
# Every installed header compiles alone, twice in one file, without warnings, and includes nothing
# but the standard library and its own kind.
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

compile() {
  "$compiler" -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic \
    -Wno-missing-field-initializers -I . -include "$1" -include "$1" -x c++ /dev/null ||
    { echo "$1 does not compile alone" >&2; return 255; }
}
export -f compile
export compiler
printf '%s\n' "${headers[@]}" | xargs -P "$(nproc)" -I {} bash -c 'compile "$@"' compile {}
echo "${#headers[@]} headers compile alone"
