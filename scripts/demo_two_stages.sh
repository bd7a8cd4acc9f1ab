#!/usr/bin/env bash
# A circle model is prepared here and trained on an emulated Cortex-M7 within 64 KiB, by thimble-micro: a
# LeNet-5 that knows everybody's digits learns those of one person.
# usage: scripts/demo_two_stages.sh [--out DIR] [--board BOARD] [--bin DIR]
#   --out DIR      where models, C sources and weights go [out/two_stages]
#   --board BOARD  m4, m7, m55, or host for this machine [m7]
#   --bin DIR      programs that are built already, thimble and mcu_demo; nothing is built or installed
set -euo pipefail
caller=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh

out=out/two_stages boards=() bin=''
demo_options demo-two-stage "$@"
[ ${#boards[@]} -le 1 ] || die "demo-two-stage: takes one --board"
board=${boards[0]:-m7}
case $board in m4 | m7 | m55 | host) ;; *) die "demo-two-stage: there is no board $board; m4, m7, m55 and host are" ;; esac

demo_programs
mkdir -p "$out/person"
out=$(realpath "$out")
thimble=$bin/thimble
# Without THIMBLE_DATA, what is built in is learnt first.
unset THIMBLE_DATA

value() { sed -n "s/^$1 //p" "$2"; }

stage "1 of 5: everybody's digits, as a circle file"
"$thimble" train lenet5 --limit-train 6000 --limit-test 1000 --epochs 3 --out "$out/lenet5"
"$thimble" export-tflite "$out/lenet5/checkpoint.safetensors" -o "$out/lenet5.circle"

stage "2 of 5: what to train within 60 of 64 KiB (the rest is for the stack and images), and the files for the device"
"$thimble" configure "$out/lenet5.circle" --memory-budget 60KiB --trainable auto --loss softmax_cross_entropy \
  --label digit --metric accuracy --optimizer sgd --batch 1 --out "$out/files"
"$thimble" micro "$out/files" --out "$out/device"
cp "$out"/files/{model.circle,weights.wof,program.bin} "$out/device"

stage "3 of 5: the device learns one person's digits, by two learning rates ($board)"
"$bin/mcu_demo" digits "$out/person"
rm -f "$out/person/improved.wof"
scripts/qemu.sh "$out/device" --board "$board" --size --source boards/two_stages.c --files "$out/person" \
  --out "$out/built-$board" | tee "$out/$board.txt"

stage "4 of 5: its weights, back in the model"
"$thimble" merge "$out/files/model.circle" "$out/person/improved.wof" -o "$out/improved.circle"

stage "5 of 5: the same digits on this machine, before and after"
for name in lenet5 improved; do
  "$thimble" import "$out/$name.circle" --loss softmax_cross_entropy --label digit --metric accuracy \
    -o "$out/$name.safetensors"
  echo "$name.circle:"
  "$thimble" eval "$out/$name.safetensors" --data "$out/person" --limit-test 100
done
echo
echo "on the device: $(value recognised_before "$out/$board.txt") of $(value tested "$out/$board.txt") digits before," \
  "$(value recognised_after "$out/$board.txt") after"
[ "$board" = host ] || echo "code in flash: $(($(value flash_bytes "$out/$board.txt") - $(value file_bytes "$out/$board.txt"))) bytes"
echo "written: $out/improved.circle"
