#!/usr/bin/env bash
# Installs the program, its man pages and completions below PREFIX, and for root what mount(8) and
# systemd need. DESTDIR is put before every path; FAIRDISK_PROGRAM is a program built already. Both
# mean what they say where this is called.
set -euo pipefail

absolute() { case $1 in "" | /*) echo "$1" ;; *) echo "$PWD/$1" ;; esac; }
root=$(absolute "${DESTDIR:-}")
program=$(absolute "${FAIRDISK_PROGRAM:-}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ "$(id -u)" -eq 0 ] || [ -n "$root" ]; then
  prefix=${PREFIX:-/usr/local}
  system=yes
else
  prefix=${PREFIX:-$HOME/.local}
  system=
fi
# The only place where mount(8) looks.
sbin=${SBINDIR:-/sbin}
share=$root$prefix/share

if [ -z "$program" ]; then
  . scripts/toolchain.sh
  cargo build --release --locked -p fairdisk
  program=${CARGO_TARGET_DIR:-target}/release/fairdisk
fi

install -D -m 755 "$program" "$root$prefix/bin/fairdisk"
echo "installed $root$prefix/bin/fairdisk"

mkdir -p "$share/man/man1"
"$program" man "$share/man/man1"
echo "installed man pages in $share/man/man1"

completions() { # shell, file
  mkdir -p "$(dirname "$share/$2")"
  "$program" completions "$1" >"$share/$2"
  echo "installed $share/$2"
}
completions bash bash-completion/completions/fairdisk
completions zsh zsh/site-functions/_fairdisk
completions fish fish/vendor_completions.d/fairdisk.fish

for example in grafana/fairdisk.json prometheus/fairdisk.rules.yml; do
  install -D -m 644 "packaging/$example" "$share/fairdisk/$example"
  echo "installed $share/fairdisk/$example"
done

if [ -z "$system" ]; then
  echo "note: not root, so no mount.fairdisk for mount(8) and no systemd unit" >&2
  exit 0
fi

# For the types `fairdisk`, `fuse.fairdisk` and `fairdisk-cgroup`.
mkdir -p "$root$sbin"
for name in mount.fairdisk mount.fuse.fairdisk mount.fairdisk-cgroup; do
  ln -sfn "$prefix/bin/fairdisk" "$root$sbin/$name"
done
echo "installed $root$sbin/mount.fairdisk and mount.fairdisk-cgroup"

units=$root$prefix/lib/systemd/system
mkdir -p "$units"
sed "s|/usr/local/bin|$prefix/bin|" packaging/fairdisk@.service >"$units/fairdisk@.service"
echo "installed $units/fairdisk@.service"
