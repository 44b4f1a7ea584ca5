#!/usr/bin/env bash
# Installs what the tests and benchmarks use, on Debian and its relatives and only if it is missing.
# Nothing here is needed to build or to use Fairdisk; without it some tests say that they skip.
# The Rust toolchain is the business of toolchain.sh.
set -uo pipefail

missing=()
command -v fio >/dev/null || missing+=(fio)
[ -d /usr/share/doc/fio/examples ] || missing+=(fio-examples)
command -v btt >/dev/null || missing+=(blktrace)
command -v valgrind >/dev/null || missing+=(valgrind)
command -v stress-ng >/dev/null || missing+=(stress-ng)
compgen -G '/usr/lib/postgresql/*/bin/pgbench' >/dev/null || missing+=(postgresql)
[ -e /usr/include/fuse3/fuse_lowlevel.h ] || missing+=(libfuse3-dev pkg-config g++)
command -v curl >/dev/null || missing+=(curl)
# What the test of the package needs; other systems have neither.
if command -v dpkg-deb >/dev/null; then
  command -v dpkg-shlibdeps >/dev/null || missing+=(dpkg-dev)
  command -v lintian >/dev/null || missing+=(lintian)
fi
command -v python3 >/dev/null || missing+=(python3)
command -v fusermount3 >/dev/null || missing+=(fuse3)
command -v chromium >/dev/null || missing+=(chromium)
command -v promtool >/dev/null || missing+=(promtool)
python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
# The environment of the tests of the Python package, once all else is there.
python_environment() {
  "$(dirname "${BASH_SOURCE[0]}")/python.sh" >/dev/null ||
    echo "note: no environment for Python; the tests of its package are skipped" >&2
}
trap python_environment EXIT
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
  explain "needs root: sudo scripts/setup.sh"
fi

echo "note: installing ${missing[*]}" >&2
log=$(mktemp)
trap 'rm -f "$log"; python_environment' EXIT
# With the package of the database comes a cluster that runs from then on. The tests make their own.
no_cluster() {
  local policy=/etc/postgresql-common/createcluster.conf
  [[ " ${missing[*]} " == *" postgresql "* ]] && [ ! -e "$policy" ] || return 0
  "${sudo[@]}" mkdir -p "${policy%/*}" &&
    echo 'create_main_cluster = false' | "${sudo[@]}" tee "$policy" >/dev/null
}
get() {
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive UCF_FORCE_CONFFOLD=1 \
    apt-get install -qq -y --no-install-recommends "$@" >"$log" 2>&1
}
install() {
  local packages=() name
  for name in "${missing[@]}"; do
    [[ " promtool chromium " == *" $name "* ]] || packages+=("$name")
  done
  if [ ${#packages[@]} -gt 0 ]; then
    no_cluster || return
    get "${packages[@]}" || return
  fi
  # Not everywhere is the browser a package.
  command -v chromium >/dev/null || get chromium || echo "note: no chromium to be had" >&2
  command -v promtool >/dev/null || install_promtool >"$log" 2>&1
}
# Its package is that of a server, which would run from now on. Only the tool is taken out of it.
install_promtool() (
  unpacked=$(mktemp -d) && cd "$unpacked" || return
  trap 'rm -rf "$unpacked"' EXIT
  apt-get download -qq prometheus && dpkg -x prometheus_*.deb . &&
    "${sudo[@]}" cp usr/bin/promtool /usr/local/bin/
)
# The lists of packages may be missing or old.
install || { "${sudo[@]}" apt-get update -qq >"$log" 2>&1 && install; } || {
  tail -n 3 "$log" >&2
  explain "apt-get failed"
}
