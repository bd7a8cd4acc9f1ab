#!/usr/bin/env bash
# Every ref.h, also those that ops share and those for microcontrollers, is C99 and brings the headers that it needs: each is compiled alone, as a C file, for
# float and for the integers for which its op.cpp includes it. What it calls is its own, or memcpy and
# the like: no function of <math.h>, which differ between systems.
# usage: c99_kernels.sh SOURCE_DIR
set -euo pipefail
cd "$1/src"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

flags=(-std=c99 -pedantic -Wall -Wextra -Werror -Wfloat-conversion
  -Wno-unused-function # a ref.h has kernels that another op uses
  -I "$work/no" -I .)
mkdir "$work/no"
echo '#error "kernels include ops/families/math/math.h instead of <math.h>"' >"$work/no/math.h"

write() { # NAME OP REAL WIDE: a C file
  {
    echo "#define THIMBLE_REAL $3"
    echo "#define THIMBLE_WIDE $4"
    [ "$3" = float ] || echo "#define THIMBLE_OF_INTEGERS"
    echo '#include "ops/families/kernel/ref_c.h"'
    echo "#include \"$2\""
  } >"$work/$1.c"
}

count=0
for ref in ops/*/ref.h; do
  op=$(basename "$(dirname "$ref")")
  write "$op" "$ref" float float
  count=$((count + 1))
  grep -q '^#define THIMBLE_INTEGERS$' "ops/$op/op.cpp" || continue
  for type in int8_t int16_t int32_t uint8_t uint32_t; do write "$op-$type" "$ref" "$type" uint32_t; done
  write "$op-int64_t" "$ref" int64_t uint64_t
done
for ref in ops/families/*/*_ref.h ops/*/micro.h ops/families/*/*_micro.h ops/families/*/*_cortex_m_dsp.h \
  ops/families/*/*_helium.h; do
  write "$(tr '/' '-' <<<"${ref%.h}")" "$ref" float float
  count=$((count + 1))
done
[ "$count" -ge 100 ] || { echo "only $count ref.h below $PWD/ops" >&2; exit 1; }

# Without optimization all functions stay, and so do their calls.
compile() { # COMPILER OPTIONS...
  (cd "$work" && printf '%s\n' ./*.c) | xargs -P 2 -n 40 env -C "$work" "$@" "${flags[@]/#./$PWD}"
}
compile "${CC:-gcc}" -O0 -c -fno-stack-protector
missing=$(nm -u "$work"/*.o | awk 'NF == 2 { print $2 }' | sort -u |
  grep -vxE 'memcpy|memset|memmove|memcmp|_GLOBAL_OFFSET_TABLE_' || true)
if [ -n "$missing" ]; then
  echo "reference kernels call what is not theirs: $missing" >&2
  exit 1
fi
clang=$(compgen -c clang- | grep -xE 'clang-[0-9]+' | sort | head -n 1 || true)
if [ -n "$clang" ]; then compile "$clang" -fsyntax-only; fi

# What is not C99, and a call of the C library, are found.
rm -f "$work"/*.c "$work"/*.o
canary() { # FUNCTION: must not compile
  printf '#include "ops/families/kernel/ref_c.h"\n%s\n' "$1" >"$work/canary.c"
  if compile "${CC:-gcc}" -O0 -c 2>/dev/null; then
    echo "this passes for C99: $1" >&2
    exit 1
  fi
}
canary 'static int canary(const int& x) { return x; }'
canary 'static void canary(real* y, double x) { *y = x; }'
canary '#include <math.h>'
echo "$count ref.h are C99${clang:+, also to $clang}"
