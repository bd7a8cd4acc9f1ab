#!/usr/bin/env bash
# Proves the README's commands on a machine that has nothing: an empty Debian root, no compiler, no
# compiler cache, in a mount and process namespace with a /dev of its own. Prints each one's time.
# usage: ./run bare [--keep] [COMMAND...]       default: the README's two commands and 'pip install .'
#   Each COMMAND is a line for sh in a fresh copy of the last commit, for example './run test'.
#   --keep keeps the root for inspection. Environment: THIMBLE_DEBIAN, the release (bookworm).
# Needs root, debootstrap and the network. The root has this machine's apt sources, certificates and
# settings of pip; nothing of this machine is mounted in it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh

if [ "${1-}" = --inside ]; then # within the namespace: ROOT COMMAND...
  root=$2
  shift 2
  mount --make-rprivate /
  mount -t tmpfs -o mode=755 tmpfs "$root/dev"
  mkdir "$root/dev/shm" "$root/dev/pts"
  mount -t tmpfs tmpfs "$root/dev/shm"
  while read -r name major minor; do mknod -m 666 "$root/dev/$name" c "$major" "$minor"; done <<'EOF'
null 1 3
zero 1 5
full 1 7
random 1 8
urandom 1 9
tty 5 0
EOF
  ln -s /proc/self/fd "$root/dev/fd"
  mount -t proc proc "$root/proc"
  for line in "$@"; do
    start=$(date +%s)
    status=0
    chroot "$root" /usr/bin/env -i HOME=/srv PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
      ${PIP_FIND_LINKS+"PIP_FIND_LINKS=$PIP_FIND_LINKS"} \
      ${PIP_INDEX_URL+"PIP_INDEX_URL=$PIP_INDEX_URL"} PIP_CERT=/srv/certificates.crt \
      sh -c "cd /srv/thimble && $line" </dev/null || status=$?
    echo "$(($(date +%s) - start)) s, exit status $status: $line" | tee -a "$root/times"
    [ "$status" -eq 0 ] || break
  done
  exit 0
fi

keep=
if [ "${1-}" = --keep ]; then
  keep=1
  shift
fi
[ $# -gt 0 ] || set -- './run demo' 'build/release/bin/thimble plan vae --batch 8' \
  'scripts/install_dependencies.sh python && python3 -m venv /srv/env && /srv/env/bin/pip install .'
[ "$(id -u)" = 0 ] || die "an empty Debian root needs root: sudo ./run bare"
command -v debootstrap >/dev/null || die "debootstrap is missing: apt-get install debootstrap"

root=$(mktemp -d)
chmod 755 "$root"
remove() { # the mounts inside ended with their namespace
  if [ -n "$keep" ]; then echo "left: $root"; else rm -rf --one-file-system "$root"; fi
}
trap remove EXIT

# The first mirror that this machine's apt uses.
# shellcheck disable=SC2016  # apt fills it in
mirror=$(apt-get indextargets --format '$(SITE)' 2>/dev/null | sed -n 1p)
[ -n "$mirror" ] || die "apt knows no mirror: run apt-get update"
echo "Making an empty Debian root"
debootstrap --variant=minbase "${THIMBLE_DEBIAN-bookworm}" "$root" "$mirror" >"$root.log" 2>&1 || {
  tail -n 20 "$root.log" >&2
  die "debootstrap could not make the root"
}
rm -f "$root.log"
rm -f "$root/etc/apt/sources.list"
for path in /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/apt.conf.d /etc/apt/trusted.gpg.d \
  /usr/share/keyrings /etc/resolv.conf /etc/hosts /etc/pip.conf; do
  [ ! -e "$path" ] || { rm -rf "${root:?}$path" && mkdir -p "$root${path%/*}" && cp -rL "$path" "$root$path"; }
done
cp -L /etc/ssl/certs/ca-certificates.crt "$root/srv/certificates.crt"
for path in "$HOME/.config/pip" "$HOME/.pip"; do
  [ ! -d "$path" ] || { mkdir -p "$root/srv/${path#"$HOME"/}" && cp -rL "$path/." "$root/srv/${path#"$HOME"/}"; }
done
# An index in a folder may link to files anywhere on this machine: the root asks the network instead.
for path in "$root/etc/pip.conf" "$root"/srv/{.config/pip,.pip}/pip.conf; do
  [ ! -e "$path" ] || sed -i -E '/index-url/s,file://[^ ]+,,g' "$path"
done
# Folders in which pip looks for packages.
for path in $(python3 -m pip config list 2>/dev/null | sed -n '/find-links/p' | grep -oE '/[^ '\'']+'); do
  [ ! -d "$path" ] || { mkdir -p "$root${path%/*}" && cp -rL "$path" "$root${path%/*}/"; }
done
if [ -n "${THIMBLE_DATA-}" ]; then
  mkdir -p "$root/srv/data" && cp -rL "$THIMBLE_DATA/." "$root/srv/data"
fi
git clone -q . "$root/srv/thimble"

unshare --mount --pid --fork -- "$0" --inside "$root" "$@"
echo
echo "A bare Debian ${THIMBLE_DEBIAN-bookworm} with $(nproc) cores:"
cat "$root/times"
! grep -qv 'exit status 0:' "$root/times"
