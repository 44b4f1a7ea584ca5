#!/usr/bin/env bash
# Builds libfuse's pass-through examples, programs to compare with, from the source package of the
# system's own libfuse into the directory given. Nothing of them is kept here.
set -euo pipefail

to=$1
[ -x "$to/passthrough_ll" ] && [ -x "$to/passthrough_hp" ] && exit 0
command -v apt-get >/dev/null || { echo "no apt-get" >&2; exit 1; }
pkg-config --exists fuse3 || { echo "no libfuse3-dev" >&2; exit 1; }

at=$(mktemp -d)
trap 'rm -rf "$at"' EXIT
chmod 755 "$at"
cd "$at"
# Lists of source packages beside the system's own, which stay as they are.
mkdir -p lists/partial parts
for list in /etc/apt/sources.list.d/*.sources; do
  [ -e "$list" ] && sed 's/^Types:.*/Types: deb-src/' "$list" >"parts/${list##*/}"
done
sed -n 's/^deb /deb-src /p' /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null \
  >parts/all.list || true
private=(-o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$at/parts"
  -o "Dir::State::lists=$at/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
apt-get "${private[@]}" update -qq
apt-get "${private[@]}" source -qq --download-only fuse3 2>/dev/null
mkdir fuse
tar xf fuse3_*.orig.tar.?z -C fuse --strip-components 1
flags=$(pkg-config fuse3 --cflags --libs)
mkdir -p "$to"
# shellcheck disable=SC2086
gcc -O2 -w -D_FILE_OFFSET_BITS=64 fuse/example/passthrough_ll.c -o "$to/passthrough_ll" $flags
# shellcheck disable=SC2086
g++ -O2 -w -std=c++17 -D_FILE_OFFSET_BITS=64 fuse/example/passthrough_hp.cc \
  -o "$to/passthrough_hp" $flags
