#!/usr/bin/env bash
# The mathematics of reference kernels gives the host's bits on every board, with several compilers and
# levels of optimization, and the fence of every board stops a program that leaves its memory.
# With the command line, an exported network trains there, too, with the bits of the engine.
# usage: same_bits.sh SOURCE_DIR [THIMBLE]
# The last line: "N passed, M failed, K skipped". A board whose tools are missing is skipped and named.
set -uo pipefail
root=$1 thimble=${2-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0 ran=()

verdict() { # NAME STATUS
  if [ "$2" -eq 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $1"
  fi
}
skip() {
  skipped=$((skipped + 1))
  echo "skipped: $1"
}

mkdir "$work/math" "$work/fence"
cp "$root/boards/math_check.c" "$work/math"
cp "$root/boards/fence_check.c" "$work/fence"
"$root/scripts/qemu.sh" "$work/math" --board host --out "$work/host" >"$work/expected" ||
  { echo "FAILED: the host has no checksums"; exit 1; }
[ "$(wc -l <"$work/expected")" -ge 30 ] || { echo "FAILED: too few checksums"; exit 1; }

# Contraction, and instructions that fuse, must change nothing: all of it is integers.
host=(-I "$root/boards" -I "$root/src" "$root/boards/host.c" "$root/boards/math_check.c" -o "$work/other")
machine=()
[ "$(uname -m)" != x86_64 ] || ! grep -qs -w fma /proc/cpuinfo || machine=(-march=haswell)
for options in "gcc -std=c99 -O0" "gcc -std=c99 -O3 -ffp-contract=fast" "clang -std=c99 -O2" \
  "g++ -x c++ -std=c++20 -O2"; do
  # shellcheck disable=SC2086
  set -- $options
  compiler=$1
  shift
  if [ "$compiler" = clang ]; then
    compiler=$(compgen -c clang- | grep -xE 'clang-[0-9]+' | sort | head -n 1)
  fi
  if [ -z "$compiler" ] || ! command -v "$compiler" >/dev/null; then
    skip "$options: not installed"
    continue
  fi
  extra=()
  case $options in *contract*) extra=("${machine[@]}") ;; esac
  "$compiler" "$@" "${extra[@]}" "${host[@]}" && "$work/other" >"$work/found" &&
    diff -u "$work/expected" "$work/found"
  verdict "$options" $?
done

if command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null; then
  # Without -ffp-contract=off GCC contracts here.
  aarch64-linux-gnu-gcc -std=c99 -O2 -static "${host[@]}" && qemu-aarch64 "$work/other" >"$work/found" &&
    diff -u "$work/expected" "$work/found"
  verdict aarch64 $?
else
  skip "aarch64: the cross-compiler or qemu-user is not installed"
fi

for board in m4 m7 m55 riscv riscvf; do
  "$root/scripts/qemu.sh" "$work/math" --board "$board" --out "$work/$board" >"$work/found" 2>"$work/errors"
  status=$?
  if [ "$status" -eq 77 ]; then
    skip "$board: $(tail -n 1 "$work/errors")"
    continue
  fi
  ran+=("$board")
  cat "$work/errors"
  [ "$status" -eq 0 ] && diff -u "$work/expected" <(grep -vE '^([a-z]+_bytes|instructions) ' "$work/found")
  verdict "$board" $?
  # Within its memory the program goes on, beyond it faults.
  "$root/scripts/qemu.sh" "$work/fence" --board "$board" --out "$work/$board" >"$work/found" 2>&1
  status=$?
  [ "$status" -eq 42 ] && grep -qx within "$work/found" && ! grep -q beyond "$work/found" &&
    grep -qx fault "$work/found"
  verdict "fence of $board" $?
done

# Kernels of int8 layers, as the targets of thimble export-c have them, have the reference's results.
"$root/scripts/qemu.sh" "$root/tests/boards/kernels_check" --board host --out "$work/host" >"$work/expected"
[ "$(wc -l <"$work/expected")" -ge 30 ]
verdict "kernels of the host" $?
# The plain C of the targets, which stands beside their instructions.
for target in 1 2 3; do
  gcc -std=gnu99 -O1 -ffp-contract=off -Wno-unused-function -fsanitize=address,undefined -fno-sanitize-recover=all \
    -DKERNELS=$target -I "$root/boards" -I "$root/src" "$root/boards/host.c" "$root/tests/boards/kernels_check/main.c" \
    -o "$work/plain" && ASAN_OPTIONS=detect_leaks=0 "$work/plain" >"$work/found" && diff -u "$work/expected" "$work/found"
  verdict "plain kernels of target $target" $?
done
for board in "${ran[@]}"; do
  "$root/scripts/qemu.sh" "$root/tests/boards/kernels_check" --board "$board" --out "$work/$board" >"$work/found" 2>&1 &&
    diff -u "$work/expected" <(grep -vE '^([a-z]+_bytes|instructions) ' "$work/found")
  verdict "kernels of $board" $?
done

# The instructions of a step, which are 8 a round and what a loop needs, and its arguments arrive.
for board in "${ran[@]}"; do
  "$root/scripts/qemu.sh" "$root/tests/boards/step_check" --board "$board" --out "$work/$board" >"$work/found" 2>&1
  status=$?
  count=$(sed -n 's/^train_step_instructions //p' "$work/found")
  if [ "$status" -ne 0 ] || ! grep -qx 'sum 385' "$work/found" || [ "${count:-0}" -lt 800000 ] ||
    [ "$count" -gt 1300000 ]; then
    cat "$work/found"
    status=1
  fi
  verdict "steps of $board" "$status"
done

# What does not fit 256 KB is frozen, in flash. The exported test compares with the engine.
if [ -z "$thimble" ] || ! "$thimble" export-c --help >/dev/null 2>&1; then
  skip "exported training: no command line that writes C was given"
else
  "$thimble" export-c lenet5 --batch 1 --optimizer sgd:momentum=0 --freeze 'dense1*' --freeze 'dense2*' \
    --out "$work/lenet5" >"$work/found" 2>&1 || cat "$work/found"
  for board in "${ran[@]}"; do
    "$root/scripts/qemu.sh" "$work/lenet5" --board "$board" --out "$work/$board" >"$work/found" 2>&1
    status=$?
    grep -q '^train_step_instructions [1-9]' "$work/found" || status=1
    [ "$status" -eq 0 ] || tail -n 20 "$work/found"
    verdict "exported training on $board" "$status"
  done
  "$thimble" export-c vae --batch 1 --optimizer sgd --test-steps 1 --out "$work/vae" >"$work/found" 2>&1 ||
    cat "$work/found"
  for board in "${ran[@]}"; do
    case $board in m7 | m55) ;; *) continue ;; esac
    "$root/scripts/qemu.sh" "$work/vae" --board "$board" --out "$work/$board" >"$work/found" 2>&1
    status=$?
    [ "$status" -eq 0 ] || tail -n 20 "$work/found"
    verdict "exported training of vae on $board" "$status"
  done

  # int8 weights, all of them trained; Cortex-M also with the instructions of its DSP extension and of Helium.
  {
    "$thimble" save lenet5 --seed 5 -o "$work/f32.safetensors" &&
      "$thimble" quantize "$work/f32.safetensors" --samples 16 --limit-test 10 -o "$work/int8.safetensors" &&
      "$thimble" adapt "$work/int8.safetensors" --trainable '*' -o "$work/trained.safetensors"
  } >"$work/found" 2>&1 || cat "$work/found"
  for target in c99 cortex-m-dsp helium riscv; do
    "$thimble" export-c "$work/trained.safetensors" --batch 1 --optimizer sgd:momentum=0 --freeze 'dense1*' \
      --target "$target" --test-steps 8 --out "$work/$target" >"$work/found" 2>&1 || cat "$work/found"
    for board in "${ran[@]}"; do
      case $target-$board in c99-m55 | riscv-riscv | cortex-m-dsp-m4 | cortex-m-dsp-m7 | helium-m55) ;; *) continue ;; esac
      "$root/scripts/qemu.sh" "$work/$target" --board "$board" --out "$work/$board" >"$work/found" 2>&1
      status=$?
      [ "$status" -eq 0 ] || tail -n 20 "$work/found"
      verdict "exported int8 training for $target on $board" "$status"
    done
  done

  # The instructions of the kernels are nearly those of a step.
  for board in "${ran[@]:0:1}"; do
    "$root/scripts/qemu.sh" "$work/lenet5" --board "$board" --ram 512K --kernels --out "$work/$board" >"$work/found" 2>&1 &&
      awk '/^train_step_instructions / { step = $2 } /^kernel_instructions / { sum += $3 }
        END { exit !(sum > 0.9 * step && sum < 1.1 * step) }' "$work/found"
    status=$?
    [ "$status" -eq 0 ] || cat "$work/found"
    verdict "kernels on $board" "$status"
  done
fi

# What ./run demo-mcu does, on one board: it learns, with the host's bits.
if [ -x "$(dirname "$thimble")/mcu_demo" ] && [[ " ${ran[*]} " == *" m7 "* ]]; then
  "$root/scripts/demo_mcu.sh" --bin "$(dirname "$thimble")" --board m7 --out "$work/demo" >"$work/found" 2>&1 &&
    grep -q 'recognised .*same bits everywhere' "$work/found" && [ -s "$work/demo/report.html" ]
  status=$?
  [ "$status" -eq 0 ] || tail -n 20 "$work/found"
  verdict "the demo on m7" "$status"
  # What ./run demo-two-stage does: the device improves the weights, to the host's bits, with at most 64 KiB of code.
  "$root/scripts/demo_two_stages.sh" --bin "$(dirname "$thimble")" --board m7 --out "$work/two_stages" \
    >"$work/found" 2>&1 &&
    awk '/^code in flash: / { bytes = $4 } END { exit !(bytes > 0 && bytes <= 65536) }' "$work/found" &&
    mv "$work/two_stages/person/improved.wof" "$work/m7.wof" &&
    "$root/scripts/qemu.sh" "$work/two_stages/device" --board host --source "$root/boards/two_stages.c" \
      --files "$work/two_stages/person" --out "$work/two_stages/host" >>"$work/found" 2>&1 &&
    cmp "$work/two_stages/person/improved.wof" "$work/m7.wof"
  status=$?
  [ "$status" -eq 0 ] || tail -n 20 "$work/found"
  verdict "the demo of two stages on m7" "$status"
else
  skip "the demos: no mcu_demo beside the command line, or no board m7"
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
