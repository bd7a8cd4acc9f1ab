#!/usr/bin/env bash
# Formatting, house rules, shellcheck, warnings, clang-tidy. Changes nothing.
# usage: ./run lint [quick | FILE...]     quick: without warnings and clang-tidy; FILE...: clang-tidy
#        on these files alone
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh

scripts/install_dependencies.sh lint
failures=0
check() { # NAME COMMAND...
  local name=$1
  shift
  if "$@"; then echo "$name: fine"; else
    echo "$name: FAILED" >&2
    failures=$((failures + 1))
  fi
}

format=$(llvm_version clang-format) || die "clang-format is missing"
[ "$format" = 14 ] || echo "formatting is checked by clang-format $format; the code follows 14"
formatted() {
  git ls-files -co --exclude-standard '*.h' '*.c' '*.cpp' |
    xargs "clang-format-$format" --dry-run -Werror
}
scripts_are_clean() {
  git ls-files -co --exclude-standard run .ci/run '*.sh' | xargs shellcheck -x
}
check "house rules" scripts/check_rules.sh
check "formatting" formatted
check "shell scripts" scripts_are_clean

tidy() { # FILES..., with the commands of the units of build/dev that include them
  python3 scripts/tidy_commands.py build/dev || return
  printf '%s\n' "$@" | xargs -P "$jobs" -n 1 "clang-tidy-$(llvm_version clang-tidy)" -p build/dev/tidy \
    --quiet --extra-arg=-Wno-unknown-warning-option 2>/dev/null
}
without_warnings() { # with the one compiler whose warnings are errors
  local version
  version=$(llvm_version clang++)
  configure lint "-DCMAKE_C_COMPILER=clang-$version" "-DCMAKE_CXX_COMPILER=clang++-$version"
  build lint
}
if [ "${1-}" != quick ]; then
  [ $# -gt 0 ] || check "warnings" without_warnings
  configure dev
  [ $# -gt 0 ] || mapfile -t < <(git ls-files 'src/*.cpp' ':!src/ops/*/test.cpp' 'apps/*.cpp' \
    'examples/*.cpp')
  [ $# -gt 0 ] || set -- "${MAPFILE[@]}"
  check "clang-tidy" tidy "$@"
fi
[ "$failures" -eq 0 ]
