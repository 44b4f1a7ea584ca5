#!/usr/bin/env bash
# Installs what the tests and benchmarks use, on Debian and its relatives and only if it is missing.
# Nothing here is needed to build or to use Fairdisk; without it some tests say that they skip.
# The Rust toolchain is the business of toolchain.sh.
set -uo pipefail

missing=()
command -v fio >/dev/null || missing+=(fio)
[ -d /usr/share/doc/fio/examples ] || missing+=(fio-examples)
command -v valgrind >/dev/null || missing+=(valgrind)
command -v stress-ng >/dev/null || missing+=(stress-ng)
compgen -G '/usr/lib/postgresql/*/bin/pgbench' >/dev/null || missing+=(postgresql)
[ -e /usr/include/fuse3/fuse_lowlevel.h ] || missing+=(libfuse3-dev pkg-config g++)
command -v curl >/dev/null || missing+=(curl)
command -v python3 >/dev/null || missing+=(python3)
command -v fusermount3 >/dev/null || missing+=(fuse3)
command -v promtool >/dev/null || missing+=(prometheus)
[ ${#missing[@]} -eq 0 ] && exit 0

explain() {
  echo "note: ${missing[*]} not installed ($1); the tests that need them are skipped" >&2
  exit 0
}

command -v apt-get >/dev/null || explain "no apt-get here"
if [ "$(id -u)" -eq 0 ]; then
  sudo=()
elif sudo -n true 2>/dev/null; then
  sudo=(sudo -n)
else
  explain "needs root: sudo apt-get install ${missing[*]}"
fi

echo "note: installing ${missing[*]}" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() {
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -qq -y --no-install-recommends "${missing[@]}" >"$log" 2>&1
}
# The lists of packages may be missing or old.
install || { "${sudo[@]}" apt-get update -qq >"$log" 2>&1 && install; } || {
  tail -n 3 "$log" >&2
  explain "apt-get failed"
}
