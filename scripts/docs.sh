#!/usr/bin/env bash
# Writes the reference pages from the help texts and op descriptions of a built thimble.
# usage: scripts/docs.sh THIMBLE [check]     THIMBLE: the program; check: change nothing, fail if a
#        page is out of date
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
pages=$(mktemp -d)
trap 'rm -rf "$pages"' EXIT

"$program" ops --markdown >"$pages/ops.md"
{
  # shellcheck disable=SC2016 # the backticks are Markdown's
  printf '# Commands\n\nWritten by `./run docs` from the help pages; do not edit.\n'
  printf 'Exit codes and JSON keys stand in [the guide](../guide/command-line.md).\n'
  for command in $("$program" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z-]*\) .*/\1/p'); do
    printf '\n## thimble %s\n\n```\n' "$command"
    "$program" "$command" --help
    printf '```\n'
  done
} >"$pages/commands.md"

status=0
for page in "$pages"/*.md; do
  name=docs/reference/$(basename "$page")
  if [ "${2-}" != check ]; then
    mkdir -p docs/reference
    cp "$page" "$name"
    echo "$name"
  elif ! diff -u "$name" "$page"; then
    echo "$name is out of date: ./run docs updates it" >&2
    status=1
  fi
done
exit "$status"
