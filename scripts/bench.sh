#!/usr/bin/env bash
# Measures thimble beside PyTorch and writes build/bench/report.md and report.html.
set -euo pipefail
caller=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh

usage() {
  cat <<EOT
usage: ./run bench [--quick] [--readme] [--recipe NAME]... [--data PATH]

Trains the recipes vae, lenet5 and mlp with thimble and with PyTorch $torch_version, from the same
weights on the same samples, and compares losses, time and memory; then the kernels of both.
Writes build/bench/report.md and report.html. PyTorch is installed under build/torch with pip.

  --quick        two epochs, one round of each timing, no kernels: to check that it works
  --readme       the three recipes alone, no kernels; prints README's table of figures in the end
                 and writes it to build/bench/readme.md
  --recipe NAME  this recipe alone, any that has a model in bench/pytorch; no kernels; may be
                 given more than once
  --data PATH    real data of the recipes, as for 'thimble train'; else THIMBLE_DATA, else the
                 built-in data
EOT
}

quick=
readme=
recipes=()
data=${THIMBLE_DATA-}
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=1 ;;
    --readme) readme=1 ;;
    --recipe | --data)
      [ $# -ge 2 ] || { echo "bench: $1 needs a value; ./run bench --help" >&2; exit 2; }
      if [ "$1" = --recipe ]; then recipes+=("$2"); else data=$2; fi
      shift
      ;;
    --recipe=*) recipes+=("${1#*=}") ;;
    --data=*) data=${1#*=} ;;
    -h | --help) usage && exit ;;
    *)
      echo "bench: unknown option '$1'; ./run bench --help lists them" >&2
      exit 2
      ;;
  esac
  shift
done
for recipe in "${recipes[@]+"${recipes[@]}"}"; do
  if ! grep -qs '^class Model' "bench/pytorch/$recipe.py"; then
    twins=$(grep -l '^class Model' bench/pytorch/*.py | sed 's:.*/::; s:\.py$::' | paste -sd, -)
    echo "bench: there is no recipe '$recipe' to compare; take one of ${twins//,/, }" >&2
    exit 2
  fi
done
# A relative folder is relative to the caller's working directory.
case $data in '' | /*) ;; *) data=$caller/$data ;; esac

out=build/bench

# Prints the output of another comparison and keeps it for the report.
also() { # FILE COMMAND...
  local file=$out/$1
  shift
  echo
  "$@" | tee "$file.new"
  mv "$file.new" "$file"
}

scripts/install_dependencies.sh bench
mkdir -p "$out"
torch_environment || die "bench: pip could not install PyTorch; the lines above say why"
configure release -DTHIMBLE_BUILD_BENCH=ON
build release twin_bench kernels_bench norm_pool_bench updates_bench data_bench

rm -f "$out"/{kernels,norm_pool,updates,data}.txt
options=()
for recipe in "${recipes[@]+"${recipes[@]}"}"; do options+=(--recipe "$recipe"); done
"$torch_python" bench/pytorch/compare.py --build build/release --out "$out" ${quick:+--quick} \
  ${data:+--data "$data"} "${options[@]+"${options[@]}"}"
if [ -z "$quick$readme" ] && [ ${#recipes[@]} -eq 0 ]; then
  also kernels.txt "$torch_python" bench/kernels/compare.py build/release/bin/kernels_bench
  also norm_pool.txt "$torch_python" bench/kernels/compare_norm_pool.py build/release/bin/norm_pool_bench
  also updates.txt "$torch_python" bench/optim/compare.py build/release/bin/updates_bench
  also data.txt build/release/bin/data_bench --benchmark_min_time=0.1
fi
echo
"$torch_python" bench/pytorch/report.py "$out"
if [ -n "$readme" ]; then
  also readme.md "$torch_python" bench/pytorch/readme.py "$out"
fi
echo
echo "Written: $out/report.md, $out/report.html"
