#!/usr/bin/env bash
# Makes the virtual environment in which the tests of the Python package run, with the versions that
# python/requirements-test.txt pins, and prints where it is. Does nothing if it is there already.
# It needs Python 3.11 or later, as pinned packages do; the package itself runs on 3.10, too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
place=${1:-${CARGO_TARGET_DIR:-$PWD/target}/python}
wanted=python/requirements-test.txt

fail() {
  echo "error: no environment of $wanted: $1" >&2
  exit 1
}

if ! cmp -s "$wanted" "$place/installed.txt"; then
  found=$(python3 --version 2>&1) || fail "python3 is missing; install Python 3.11 or later"
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "it needs Python 3.11 or later, and python3 is $found"
  # Programs of an environment name its folder: it stays where it is made, and a link leads there,
  # to the one of before until all is installed.
  fresh=$place-$(sha256sum "$wanted" | head -c 12)
  rm -rf "$fresh"
  python3 -m venv "$fresh" >&2 || fail "python3 makes no environments; install python3-venv"
  # It installs on all cores, and in a tenth of the time.
  "$fresh/bin/pip" install --quiet --disable-pip-version-check uv==0.13.9 >&2 ||
    fail "pip cannot install uv; its reason is above"
  "$fresh/bin/uv" pip install --quiet --python "$fresh/bin/python" --requirement "$wanted" >&2 ||
    fail "uv cannot install its packages; its reason is above"
  cp "$wanted" "$fresh/installed.txt"
  before=
  if [ -L "$place" ]; then before=$(readlink -f "$place"); else rm -rf "$place"; fi
  ln -sfn "${fresh##*/}" "$place"
  [ "$before" = "$(readlink -f "$fresh")" ] || rm -rf "$before"
fi
echo "$place"
