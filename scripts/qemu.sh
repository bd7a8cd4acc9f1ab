#!/usr/bin/env bash
# Builds a folder of C for a microcontroller and runs it in QEMU, within 1 MB of flash and 256 KB of
# memory, which a fence guards. Prints what the program prints, then its bytes.
# usage: scripts/qemu.sh FOLDER --board BOARD [--ram BYTES] [--kernels] [--out DIR] [--files DIR]
#                        [--source FILE]... [--size]
#   FOLDER   C sources, one of them with `int main(void)`; headers are found there, in boards/ and src/
#   BOARD    m4, m7, m55 (Cortex-M), riscv (RV32IMAC) or riscvf (RV32IMAFC); host runs it right here
#   --ram    256K, 512K or 1M of memory, for programs that are too large [256K]
#   --kernels  count the instructions of every kernel of a folder that thimble export-c wrote: to
#            DIR/kernels.txt by call, and after the program's output summed by kernel for one step
#   --out    where objects and program go (build/boards/<folder>-<board>)
#   --files  where the program finds the files that it opens (FOLDER)
#   --size   compile for little flash (-Os) instead of speed (-O2)
#   --source further C files, such as boards/step.c; may be given several times
# Status: that of the program; 42 for a fault, 77 if a tool is missing.
# The instructions are those of QEMU's -icount, the same in every run.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

usage() {
  sed -n '2,18s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
}

folder='' board='' out='' files='' ram=256K kernels='' level=-O2 sources=()
while [ $# -gt 0 ]; do
  case $1 in
    --kernels)
      kernels=yes
      shift
      ;;
    --size)
      level=-Os
      shift
      ;;
    --board | --ram | --out | --files | --source)
      [ $# -ge 2 ] || usage
      case $1 in
        --board) board=$2 ;;
        --ram) ram=$2 ;;
        --out) out=$2 ;;
        --files) files=$2 ;;
        --source) sources+=("$(realpath "$2")") ;;
      esac
      shift 2
      ;;
    -*) usage ;;
    *)
      [ -z "$folder" ] || usage
      folder=$1
      shift
      ;;
  esac
done
if [ -z "$folder" ] || [ -z "$board" ]; then usage; fi
case $ram in 256K | 512K | 1M) ;; *) usage ;; esac
[ -d "$folder" ] || {
  echo "qemu: $folder is no folder" >&2
  exit 2
}
folder=$(realpath "$folder")
out=${out:-$root/build/boards/$(basename "$folder")-$board}
files=$(realpath "${files:-$folder}")

boards=$root/boards
shared=("$boards/board.c" "$boards/steps.c" "$boards/libc.c")
startup=("${shared[@]}" "$boards/cortex_m.c")
arm=(-mthumb --specs=nano.specs -T "$boards/cortex_m.ld")
riscv=(--specs=picolibc.specs -misa-spec=2.2 -mcmodel=medany -T "$boards/riscv.ld")
flash=0 ram_begin=0x20000000
case $board in
  m4)
    compiler=arm-none-eabi-gcc emulator=(qemu-system-arm -M mps2-an386)
    flags=(-mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard -DBOARD_TIMER_MHZ=25 "${arm[@]}")
    ;;
  m7)
    compiler=arm-none-eabi-gcc emulator=(qemu-system-arm -M mps2-an500)
    flags=(-mcpu=cortex-m7 -mfpu=fpv5-d16 -mfloat-abi=hard -DBOARD_TIMER_MHZ=25 "${arm[@]}")
    ;;
  m55)
    compiler=arm-none-eabi-gcc emulator=(qemu-system-arm -M mps3-an547)
    flags=(-mcpu=cortex-m55 -mfloat-abi=hard -DBOARD_TIMER_MHZ=32 "${arm[@]}")
    flash=0x01000000
    [ "$ram" = 256K ] || ram_begin=0x21000000
    ;;
  riscv | riscvf)
    compiler=riscv64-unknown-elf-gcc emulator=(qemu-system-riscv32 -M virt -bios none)
    startup=("${shared[@]}" "$boards/riscv.c" "$boards/riscv_start.S")
    flags=(-march=rv32imac -mabi=ilp32 "${riscv[@]}")
    [ "$board" = riscv ] || flags=(-march=rv32imafc -mabi=ilp32f "${riscv[@]}")
    ;;
  host)
    compiler=${CC:-cc} emulator=() startup=("$boards/host.c") flags=()
    ;;
  *) usage ;;
esac
for tool in "$compiler" "${emulator[0]:-$compiler}"; do
  command -v "$tool" >/dev/null || {
    echo "qemu: $tool is not installed; scripts/install_dependencies.sh boards installs it" >&2
    exit 77
  }
done

[ -z "$kernels" ] || [ "$board" = host ] || {
  startup+=("$boards/kernels.c")
  flags+=(-include "$boards/kernels.h")
}

mkdir -p "$out"
out=$(realpath "$out")
shopt -s nullglob
program=$out/program.elf
link=()
case $ram in 1M) ram_bytes=1048576 ;; *) ram_bytes=$((${ram%K} * 1024)) ;; esac
if [ "$board" != host ]; then
  link=(-nostartfiles "-Wl,--gc-sections" "-Wl,--no-warn-rwx-segments" "-Wl,-Map=$out/program.map"
    "-Wl,--defsym=BOARD_FLASH=$flash" "-Wl,--defsym=BOARD_RAM=$ram_begin"
    "-Wl,--defsym=BOARD_RAM_BYTES=$ram_bytes" "-Wl,--wrap=thimble_train_step" "-Wl,--wrap=thimble_predict")
fi
# Products and sums are not contracted: a result has the same bits on every board.
"$compiler" -std=gnu99 "$level" -ffp-contract=off -ffunction-sections -fdata-sections -Wall \
  -Wno-unused-function "${flags[@]}" -I "$folder" -I "$boards" -I "$root/src" "${link[@]}" \
  -o "$program" "${startup[@]}" "${sources[@]}" "$folder"/*.c

cd "$files"
if [ "$board" = host ]; then exec "$program"; fi
status=0
# The program's semihosting has standard output to itself.
timeout "${QEMU_SECONDS:-600}" "${emulator[@]}" -nographic -monitor none -serial none \
  -chardev stdio,id=console -semihosting-config enable=on,target=native,chardev=console \
  -icount shift=0 -kernel "$program" </dev/null >"$out/output.txt" || status=$?
grep -v '^kernel ' "$out/output.txt" || true
if [ -n "$kernels" ]; then
  grep '^kernel ' "$out/output.txt" | cut -d ' ' -f 2- >"$out/kernels.txt" || true
  # What runs several times is counted once: the mean. Predictions count where nothing is trained.
  awk '{ each = $1 " " $2 " " $3; count[each]++; sum[each] += $NF; trains = trains || $1 == "train_step" }
    END { for (each in sum) { split(each, name, " "); if (trains && name[1] == "predict") continue
        of[name[2]] += sum[each] / count[each]; calls[name[2]]++ }
      for (kernel in of) printf "kernel_instructions %s %.0f of %d calls\n", kernel, of[kernel], calls[kernel] }' \
    "$out/kernels.txt" | sort -k 3 -n -r
fi
"${compiler%gcc}size" -A "$program" | awk '
  $1 ~ /^\.(vectors|text|ARM\.exidx|data)$/ { bytes += $2 } END { print "flash_bytes", bytes }'
exit "$status"
