#!/usr/bin/env bash
# Compares the files that docs/guide/adding-an-op.md shows with those of the op's folder.
# usage: adding_an_op.sh SOURCE_DIR
set -euo pipefail
page=$1/docs/guide/adding-an-op.md
folder=$1/src/ops/softsign
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A block opened by ```<language> file=<name> becomes that file.
awk -v folder="$work" '
  /^```[a-z]+ file=/ { sub(/.*file=/, ""); file = folder "/" $0; next }
  /^```$/ { file = ""; next }
  file != "" { print > file }' "$page"
for file in op.h ref.h op.cpp simd.cpp; do
  [ -s "$work/$file" ] || { echo "$page: no block for $file" >&2; exit 1; }
  diff -u "$work/$file" "$folder/$file"
done
