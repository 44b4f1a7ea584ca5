#!/usr/bin/env bash
# Makes a Debian package and, if Rust's target for musl can be had, a static program, in
# target/package or the directory that is named. FAIRDISK_PROGRAM is a program built already, and then
# there is no static one. VERSION is the package's in place of that in Cargo.toml, DEBEMAIL its
# maintainer's address, LEVEL of compression 0 to 9.
set -euo pipefail

absolute() { case $1 in "" | /*) echo "$1" ;; *) echo "$PWD/$1" ;; esac; }
out=$(absolute "${1:-}")
program=$(absolute "${FAIRDISK_PROGRAM:-}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
: "${out:=$PWD/target/package}"
mkdir -p "$out"

for tool in dpkg-deb dpkg-shlibdeps strip gzip; do
  command -v "$tool" >/dev/null || { echo "error: no $tool; apt-get install dpkg-dev binutils" >&2; exit 1; }
done
value() { sed -n "s/^$1 = \"\(.*\)\"/\1/p" "$2" | head -n 1; }
version=${VERSION:-$(value version Cargo.toml)}
email=${DEBEMAIL:-fairdisk@packages.invalid}
architecture=$(dpkg --print-architecture)
musl=$(uname -m)-unknown-linux-musl

build() { # target or nothing
  . scripts/toolchain.sh
  cargo build --release --locked -p fairdisk ${1:+--target "$1"} >&2
  echo "${CARGO_TARGET_DIR:-$PWD/target}/${1:+$1/}release/fairdisk"
}
given=$program
[ -n "$program" ] || program=$(build)

# ---- the tree of the package -----------------------------------------------------------------
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/debian/fairdisk
umask 022
mkdir -p "$tree/usr/share/doc/fairdisk" "$tree/DEBIAN"
FAIRDISK_PROGRAM=$program PREFIX=/usr SBINDIR=/usr/sbin DESTDIR=$tree scripts/install.sh >/dev/null
strip --strip-unneeded "$tree/usr/bin/fairdisk"
for name in mount.fairdisk mount.fuse.fairdisk mount.fairdisk-cgroup; do
  ln -sfn ../bin/fairdisk "$tree/usr/sbin/$name"
  page=fairdisk-mount
  [ "$name" = mount.fairdisk-cgroup ] && page=fairdisk-cgroup-mount
  ln -s "../man1/$page.1.gz" "$work/$name.8.gz"
done
mkdir -p "$tree/usr/share/man/man8"
mv "$work"/*.8.gz "$tree/usr/share/man/man8/"
mv "$tree/usr/share/zsh/site-functions" "$tree/usr/share/zsh/vendor-completions"
gzip -9n "$tree"/usr/share/man/man1/*.1

cp packaging/debian/copyright "$tree/usr/share/doc/fairdisk/"
date=$(date -R -d "@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}")
maintainer="Fairdisk contributors <$email>"
printf 'fairdisk (%s) unstable; urgency=medium\n\n  * Changes are in CHANGELOG.md.\n\n -- %s  %s\n' \
  "$version" "$maintainer" "$date" | gzip -9n >"$tree/usr/share/doc/fairdisk/changelog.gz"
gzip -9nc CHANGELOG.md >"$tree/usr/share/doc/fairdisk/CHANGELOG.md.gz"
install -m 755 packaging/debian/postinst packaging/debian/postrm "$tree/DEBIAN/"

# ---- what it needs -----------------------------------------------------------------------------
printf 'Source: fairdisk\n\nPackage: fairdisk\nArchitecture: any\n' >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O debian/fairdisk/usr/bin/fairdisk 2>/dev/null | sed 's/^shlibs:Depends=//')
size=$(du -k -s --apparent-size "$tree/usr" | cut -f 1)
sed -e "s|@VERSION@|$version|" -e "s|@ARCHITECTURE@|$architecture|" -e "s|@DEPENDS@|$depends|" \
  -e "s|@SIZE@|$size|" -e "s|@MAINTAINER@|$maintainer|" packaging/debian/control >"$tree/DEBIAN/control"
(cd "$tree" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
package=$out/fairdisk_${version}_$architecture.deb
dpkg-deb --root-owner-group -Zxz -z"${LEVEL:-6}" --build "$tree" "$package" >/dev/null
echo "made $package"

# ---- the wheel -------------------------------------------------------------------------------------
if [ -z "$given" ]; then
  if ! scripts/python.sh >/dev/null; then
    echo "skipped: a wheel; it needs Python 3.10 or later" >&2
  else
    TRY=no scripts/wheel.sh "$out"
  fi
fi

# ---- the static program --------------------------------------------------------------------------
[ -z "$given" ] || exit 0
# The toolchain that builds may not be that of rustup, and the network may be away.
if ! [ -d "$(. scripts/toolchain.sh && rustc --print sysroot)/lib/rustlib/$musl" ] &&
  ! (. scripts/toolchain.sh && rustup target add "$musl") >&2; then
  echo "skipped: a static program; it needs Rust's target $musl" >&2
  exit 0
fi
static=$(build "$musl")
name=fairdisk-$version-$(uname -m)-static
mkdir -p "$work/$name"
install -m 755 "$static" "$work/$name/fairdisk"
strip --strip-unneeded "$work/$name/fairdisk"
"$work/$name/fairdisk" --version >&2
cp README.md LICENSE-APACHE LICENSE-MIT "$work/$name/"
tar -C "$work" --owner=0 --group=0 --sort=name -czf "$out/$name.tar.gz" "$name"
echo "made $out/$name.tar.gz"
