#!/usr/bin/env bash
# Makes the virtual environment in which the tests of the Python package run, with the versions that
# python/requirements-test.txt pins, and prints where it is. Does nothing if it is there already.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
place=${1:-${CARGO_TARGET_DIR:-$PWD/target}/python}
wanted=python/requirements-test.txt

if ! cmp -s "$wanted" "$place/installed.txt"; then
  rm -rf "$place"
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    { echo "error: python3 is older than 3.10" >&2; exit 1; }
  python3 -m venv "$place" >&2
  # It installs on all cores, and in a tenth of the time.
  "$place/bin/pip" install --quiet --disable-pip-version-check uv==0.13.9 >&2
  "$place/bin/uv" pip install --quiet --python "$place/bin/python" --requirement "$wanted" >&2
  cp "$wanted" "$place/installed.txt"
fi
echo "$place"
