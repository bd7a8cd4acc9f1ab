#!/usr/bin/env bash
# Compiles the files of the op that docs/guide/adding-an-op.md adds.
# usage: adding_an_op.sh SOURCE_DIR INCLUDE_DIR CXX
set -euo pipefail
source_dir=$1 generated=$2 compiler=$3
page=$source_dir/docs/guide/adding-an-op.md
op=softsign
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folder=$work/src/ops/$op
mkdir -p "$folder" "$work/include/thimble/ops"

# A block opened by ```<language> file=<name> becomes that file.
awk -v folder="$folder" '
  /^```[a-z]+ file=/ { sub(/.*file=/, ""); file = folder "/" $0; next }
  /^```$/ { file = ""; next }
  file != "" { print > file }' "$page"
cp "$folder/op.h" "$work/include/thimble/ops/$op.h"
for file in op.cpp simd.cpp test.cpp; do
  [ -s "$folder/$file" ] || { echo "$page: no block for $file" >&2; exit 1; }
  "$compiler" -std=c++20 -fsyntax-only -Wall -Wextra -Werror -Wno-missing-field-initializers \
    -I "$work/include" -I "$work/src" -I "$source_dir/include" -I "$generated" -I "$source_dir/src" \
    -I "$source_dir/tests" "$folder/$file"
done
