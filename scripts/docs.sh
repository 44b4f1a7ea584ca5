#!/usr/bin/env bash
# Makes the book: docs/, the design and the notebooks, which are run for it, in target/book or the
# directory that is named. It has a search, is light or dark, and its links are checked.
set -euo pipefail
out=$(realpath -m "${1:-$(dirname "${BASH_SOURCE[0]}")/../target/book}")
. "$(dirname "${BASH_SOURCE[0]}")/toolchain.sh"

environment=$(scripts/python.sh)
if [ -z "${FAIRDISK_MODULE:-}" ]; then
  # As the tests build it, so that it is there after them.
  cargo build --quiet --locked --profile test -p fairdisk-python
  FAIRDISK_MODULE=${CARGO_TARGET_DIR:-target}/debug/lib_fairdisk.so
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/package"
cp -r python/fairdisk "$work/package/"
ln -sf "$(realpath "$FAIRDISK_MODULE")" "$work/package/fairdisk/_fairdisk.abi3.so"
PATH=$environment/bin:$PATH PYTHONPATH=$work/package PYTHONDONTWRITEBYTECODE=1 \
  "$environment/bin/python" scripts/book.py "$work" "$out"
