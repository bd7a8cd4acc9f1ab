#!/usr/bin/env bash
# An application builds and runs through the package that applications of NNTrainer ask for, and
# every header compiles alone, as C++17 too.
# usage: ml_train.sh COMPILER PREFIX SOURCE
set -euo pipefail
compiler=$1 prefix=$2 source=$3
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name ccapi-ml-training.pc)")
export PKG_CONFIG_PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for package in ccapi-ml-training thimble-ml-train; do
  pkg-config --exists "$package" || { echo "no package $package" >&2; exit 1; }
done
read -ra flags < <(pkg-config --cflags ccapi-ml-training)
read -ra libraries < <(pkg-config --libs ccapi-ml-training)
for header in "$prefix"/include/ml_train/*.h; do
  "$compiler" -std=c++17 -fsyntax-only -Wall -Wextra "${flags[@]}" -include "$header" -x c++ /dev/null
done
"$compiler" -std=c++17 -O0 "${flags[@]}" "$source" "${libraries[@]}" -o "$work/application"
"$work/application" | tr '\r' '\n' | grep -q '^loss [0-9]'
