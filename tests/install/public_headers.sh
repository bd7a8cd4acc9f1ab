#!/usr/bin/env bash
# Every installed header compiles alone, twice in one file, without warnings, and includes nothing
# but the standard library and its own kind.
# usage: public_headers.sh COMPILER INCLUDE-FOLDER
set -euo pipefail
compiler=$1
cd "$2"
headers=$(find thimble -name '*.h' | sort)
[ -n "$headers" ] || { echo "no headers below $2/thimble" >&2; exit 1; }

# A standard header has neither a folder nor a suffix.
if grep -nHE '^ *# *include' $headers | grep -vE 'include <(thimble/[a-z0-9_/]+\.h|[a-z_]+)>'; then
  echo "public headers may include <thimble/...> and the standard library only" >&2
  exit 1
fi

export compiler
echo "$headers" | xargs -P "$(nproc)" -I {} sh -c '
  "$compiler" -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Werror -Wno-missing-field-initializers \
    -I . -include {} -include {} -x c++ /dev/null || { echo "{} does not compile alone" >&2; exit 255; }'
echo "$(echo "$headers" | wc -l) headers compile alone"
