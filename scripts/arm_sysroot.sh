#!/usr/bin/env bash
# Fetches the libraries that the build needs, as packages for 64-bit Arm, and unpacks them into
# build/aarch64-sysroot, together with apt's lists. The machine's own packages do not change, and
# root is not needed.
# usage: scripts/arm_sysroot.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh

root=$PWD/build/aarch64-sysroot
packages=(libhwy-dev libfmt-dev nlohmann-json3-dev libstb-dev libflatbuffers-dev libprotobuf-dev
  zlib1g-dev libgtest-dev libgmock-dev librapidcheck-dev)

if [ "$(cat "$root/packages.txt" 2>/dev/null)" = "${packages[*]}" ]; then exit 0; fi
if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
  die "arm_sysroot: no apt here"
fi

rm -rf "$root"
mkdir -p "$root/apt/state/lists/partial" "$root/apt/cache/archives/partial"
: >"$root/apt/state/status"
options=(-qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root
  -o "Dir::State=$root/apt/state" -o "Dir::State::status=$root/apt/state/status"
  -o "Dir::Cache=$root/apt/cache" -o Acquire::Languages=none -o Acquire::Retries=2
  -o Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false)

# A source without packages for Arm is no failure if the other sources have the packages.
apt-get "${options[@]}" update || echo "arm_sysroot: a package source could not be read" >&2

# The shared libraries are in separate packages, whose names contain versions. The C library
# comes with the cross-compiler.
libraries=()
for package in "${packages[@]}"; do
  while read -r library; do libraries+=("$library"); done < <(
    apt-cache "${options[@]}" depends --no-recommends --no-suggests "$package" |
      sed -n 's/^ *Depends: \(lib[^<>]*\)$/\1/p' | grep -v '^libc6\|^libstdc\|^libgcc' || true)
done
mapfile -t wanted < <(printf '%s\n' "${packages[@]}" "${libraries[@]}" | sort -u)
cd "$root/apt"
apt-get "${options[@]}" download "${wanted[@]}" ||
  die "arm_sysroot: apt has not all of these for arm64: ${wanted[*]}"
for file in ./*.deb; do dpkg-deb -x "$file" "$root"; done
cd "$root"
rm -rf apt
echo "${packages[*]}" >packages.txt
