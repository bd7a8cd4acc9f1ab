#!/usr/bin/env bash
# Runs every fuzzer of a build, several at once, and fails if one finds an error.
# usage: scripts/fuzz.sh BUILD-FOLDER SECONDS-PER-FUZZER     last line: "P passed, F failed"
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh

fuzz_one() { # PROGRAM SECONDS WORK-FOLDER
  local reader=${1##*/fuzz_} folders
  folders=("$3/$reader")
  mkdir -p "${folders[0]}"
  [ ! -d "tests/fuzz/seeds/$reader" ] || folders+=("tests/fuzz/seeds/$reader")
  if "$1" -max_total_time="$2" -timeout=10 -rss_limit_mb=2048 -artifact_prefix="$3/$reader-" \
    "${folders[@]}" >"$3/$reader.log" 2>&1; then
    echo "fuzz_$reader: $(grep '^Done' "$3/$reader.log")"
  else
    echo "fuzz_$reader FAILED:"
    tail -n 30 "$3/$reader.log"
  fi
}

work=$1/fuzz
mkdir -p "$work"
shopt -s nullglob
programs=("$1"/bin/fuzz_*)
[ ${#programs[@]} -gt 0 ] || die "no fuzzers in $1/bin"
export -f fuzz_one
printf '%s\n' "${programs[@]}" |
  xargs -P "$jobs" -I {} bash -c 'fuzz_one "$@"' fuzz_one {} "$2" "$work" | tee "$work/result"
failed=$(grep -c 'FAILED:$' "$work/result" || true)
echo "$((${#programs[@]} - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]
