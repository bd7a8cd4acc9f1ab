#!/usr/bin/env bash
# Installs thimble's dependencies from the system's packages (Debian 12, Ubuntu 24.04 and newer).
# usage: scripts/install_dependencies.sh GROUP...     groups: build python test lint bench arm boards
# Does nothing, and asks for no password, if everything is installed.
set -euo pipefail

# shellcheck source=scripts/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# One line per need: a command that must exist, or a dash; then the package that brings it.
needs_of() {
  case $1 in
    build) cat <<'EOF'
cmake cmake
ninja ninja-build
gcc gcc
g++ g++
- libhwy-dev
- libcli11-dev
- libfmt-dev
- nlohmann-json3-dev
- libstb-dev
- libflatbuffers-dev
- libprotobuf-dev
protoc protobuf-compiler
flatc flatbuffers-compiler
- zlib1g-dev
- liburing-dev
- libturbojpeg0-dev
- libsndfile1-dev
EOF
      ;;
    python)
      needs_of build
      printf '%s\n' 'python3 python3' '- python3-dev' '- python3-venv'
      ;;
    test)
      needs_of python
      printf '%s\n' '- libgtest-dev' '- libgmock-dev' '- librapidcheck-dev' \
        'pkg-config pkgconf'
      # The fuzzers and the sanitizers are built with clang.
      local v
      v=$(llvm_to_use clang++)
      printf '%s\n' "clang++-$v clang-$v" "- libclang-rt-$v-dev" 'ld.lld lld'
      ;;
    lint)
      needs_of test
      local v
      v=$(llvm_to_use clang-format)
      printf '%s\n' "clang-format-$v clang-format-$v" "clang-tidy-$v clang-tidy-$v" \
        'shellcheck shellcheck' 'git git'
      ;;
    bench)
      needs_of build
      printf '%s\n' '- libbenchmark-dev' 'python3 python3' '- python3-venv'
      ;;
    arm)
      # The cross-compiler for 64-bit Arm, and the emulator for its programs.
      needs_of build
      printf '%s\n' 'aarch64-linux-gnu-g++ g++-aarch64-linux-gnu' 'qemu-aarch64 qemu-user' \
        'apt-get apt' 'dpkg-deb dpkg'
      ;;
    boards)
      # Compilers for microcontrollers, with C libraries, and the emulators of their boards.
      printf '%s\n' 'arm-none-eabi-gcc gcc-arm-none-eabi' '- libnewlib-arm-none-eabi' \
        'qemu-system-arm qemu-system-arm' 'riscv64-unknown-elf-gcc gcc-riscv64-unknown-elf' \
        '- picolibc-riscv64-unknown-elf' 'qemu-system-riscv32 qemu-system-misc'
      ;;
  esac
}

has_package() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# The version of LLVM whose tool $1 is installed, or else the first the package lists offer.
llvm_to_use() {
  local v
  llvm_version "$1" && return
  for v in $llvm_versions; do
    if apt-cache show "clang-$v" >/dev/null 2>&1; then echo "$v" && return; fi
  done
  echo 14
}

missing_packages() {
  local group command package
  for group in "$@"; do
    needs_of "$group" | while read -r command package; do
      if [ "$command" != - ]; then
        command -v "$command" >/dev/null || echo "$package"
      else
        has_package "$package" || echo "$package"
      fi
    done
  done | sort -u
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

apt_install() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 "$@" </dev/null
}

[ $# -gt 0 ] || set -- ''
for group in "$@"; do
  case $group in
    build | python | test | lint | bench | arm | boards) ;;
    *)
      echo "usage: scripts/install_dependencies.sh GROUP...   groups: build python test lint bench arm boards" >&2
      exit 2
      ;;
  esac
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  # Elsewhere the user's own package manager does it; cmake then says what it cannot find.
  echo "install_dependencies: no apt here, so nothing is installed. thimble needs a C++20 compiler," \
    "cmake, ninja, Highway 1.0, CLI11, fmt, nlohmann-json, stb, FlatBuffers with flatc, protobuf with" \
    "protoc, zlib and, if you like, liburing, libjpeg-turbo (JPEG) and libsndfile (WAV);" \
    "the tests also GoogleTest, RapidCheck and clang; the benchmarks Google Benchmark and Python 3." >&2
  exit 0
fi

mapfile -t missing < <(missing_packages "$@")
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
  echo "install_dependencies: these packages are missing, and there is neither root nor sudo to" \
    "install them: ${missing[*]}" >&2
  exit 1
fi

echo "Installing ${#missing[@]} packages: ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
start=$SECONDS
# The package lists may be old or empty: the first failure refreshes them.
if ! apt_install "${missing[@]}" >"$log" 2>&1; then
  echo "Refreshing the package lists"
  as_root apt-get update -qq >>"$log" 2>&1 || true
  mapfile -t missing < <(missing_packages "$@")
  if ! apt_install "${missing[@]}" >>"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "install_dependencies: apt could not install: ${missing[*]}" >&2
    exit 1
  fi
fi
echo "Installed in $((SECONDS - start)) s"
