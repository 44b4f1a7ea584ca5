#!/usr/bin/env bash
# Makes the wheel of the Python package in target/package or the directory that is named, and tries
# it: in a fresh environment it is installed, and examples, types and notebooks are tested. PROFILE is
# that of cargo, release by default; TRY=no leaves the trial out.
set -euo pipefail
out=$(realpath -m "${1:-$(dirname "${BASH_SOURCE[0]}")/../target/package}")
. "$(dirname "${BASH_SOURCE[0]}")/toolchain.sh"

environment=$(scripts/python.sh)
mkdir -p "$out"
(cd python && "$environment/bin/maturin" build --quiet --locked --profile "${PROFILE:-release}" \
  --interpreter "$environment/bin/python" --compatibility linux --out "$out")
wheel=$(ls -t "$out"/fairdisk-*-abi3-*.whl | head -n 1)
echo "made $wheel"
[ "${TRY:-}" = no ] && exit 0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/fresh"
"$environment/bin/uv" pip install --quiet --python "$work/fresh/bin/python" \
  --requirement python/requirements-test.txt "$wheel"
cp -r python/tests python/examples python/notebooks python/pyproject.toml "$work/"
cd "$work"
# The types that are checked are those of the wheel, as nothing else is here.
"$work/fresh/bin/python" -m mypy --strict examples
"$work/fresh/bin/python" -m pytest -q -p no:cacheprovider tests/test_errors.py tests/test_notebooks.py
