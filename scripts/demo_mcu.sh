#!/usr/bin/env bash
# A microcontroller learns one person's digits: from a float model to int8 training in C, run in QEMU on
# Cortex-M4, M7 and M55 within 256 KB of memory.
# usage: scripts/demo_mcu.sh [--out DIR] [--board BOARD]... [--bin DIR]
#   --out DIR      where models, C sources and report.html go [out/mcu]
#   --board BOARD  m4, m7 or m55; may be given more than once [all three]
#   --bin DIR      programs that are built already, thimble and mcu_demo; nothing is built or installed
set -euo pipefail
caller=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh

out=out/mcu boards=() bin=''
demo_options demo-mcu "$@"
[ ${#boards[@]} -gt 0 ] || boards=(m4 m7 m55)
for board in "${boards[@]}"; do
  case $board in m4 | m7 | m55) ;; *) die "demo-mcu: there is no board $board; m4, m7 and m55 are" ;; esac
done

demo_programs
mkdir -p "$out/person"
out=$(realpath "$out")
thimble=$bin/thimble
demo=$bin/mcu_demo
# One image a step, as a device has them. Without THIMBLE_DATA, what is built in is learnt first.
training=(--batch 1 --optimizer sgd:momentum=0 --lr 0.01)
unset THIMBLE_DATA

stage "1 of 7: everybody's digits, in f32"
"$thimble" train lenet5 --limit-train 6000 --limit-test 1000 --epochs 3 --out "$out/lenet5"

stage "2 of 7: int8"
"$thimble" quantize lenet5 --checkpoint "$out/lenet5/checkpoint.safetensors" -o "$out/int8.safetensors"
"$thimble" adapt "$out/int8.safetensors" --trainable '*' -o "$out/digits.safetensors"

stage "3 of 7: one person's digits, and what each layer adds for them"
"$demo" digits "$out/person"
"$thimble" analyze "$out/digits.safetensors" --data "$out/person" "${training[@]}" --epochs 1 \
  --limit-train 150 --limit-test 200 -o "$out/parts.json" --report "$out/parts.html"

stage "4 of 7: the sparse update that adds most within 192 KiB, beside stack and the program's variables"
"$thimble" search "$out/digits.safetensors" "${training[@]}" --parts "$out/parts.json" --frozen-in-flash \
  --memory-budget 192KiB -o "$out/scheme.json" --report "$out/search.html"

stage "5 of 7: C99"
"$thimble" export-c "$out/digits.safetensors" "${training[@]}" --scheme "$out/scheme.json" \
  --memory-budget 192KiB --target cortex-m-dsp --out "$out/c"
"$thimble" export-c "$out/digits.safetensors" --predict-only --batch 1 --out "$out/predict_c"

stage "6 of 7: the device learns 300 digits, each seen once (QEMU)"
mkdir -p "$out/device"
cp "$out"/c/thimble_{model.c,model.h,kernels.h,weights.h} "$out/device"
for board in host "${boards[@]}"; do
  echo "$board"
  scripts/qemu.sh "$out/device" --board "$board" --source boards/digits.c --files "$out/person" \
    --out "$out/built-$board" >"$out/$board.txt" || { cat "$out/$board.txt"; die "demo-mcu: failed on $board"; }
done
scripts/qemu.sh "$out/c" --board "${boards[0]}" --kernels --out "$out/built-kernels" >"$out/built-kernels.txt"
cp "$out/built-kernels/kernels.txt" "$out/kernels.txt"
scripts/qemu.sh "$out/predict_c" --board "${boards[0]}" --size --out "$out/built-predict" >"$out/predict.txt"

stage "7 of 7: report"
"$demo" report "$out" "${boards[@]}"
echo "written: $out/report.html"
