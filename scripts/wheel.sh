#!/usr/bin/env bash
# Makes the wheel of the Python package in target/package or the directory that is named, and tries
# it: in a fresh environment it is installed, types and examples are checked, notebooks run, and
# results compared with those of the program. PROFILE is that of cargo, release by default; TRY=no
# leaves the trial out. With FAIRDISK_MODULE, a module that is built, the wheel is packed of that, and
# FAIRDISK_PROGRAM is the program that it is compared with. SHORT=1 leaves notebooks and most
# tests out, and installs no other packages.
set -euo pipefail
out=$(realpath -m "${1:-$(dirname "${BASH_SOURCE[0]}")/../target/package}")
. "$(dirname "${BASH_SOURCE[0]}")/toolchain.sh"

environment=$(realpath -s "$(scripts/python.sh)")
profile=${PROFILE:-release}
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
of_maturin() { (cd python && "$environment/bin/maturin" "$@" --interpreter "$environment/bin/python"); }
if [ -n "${FAIRDISK_MODULE:-}" ]; then
  mkdir "$work/wheel"
  of_maturin pep517 write-dist-info --metadata-directory "$work/wheel" >/dev/null
  cp -r python/fairdisk "$work/wheel/"
  find "$work/wheel" \( -name '*.so' -o -name __pycache__ \) -prune -exec rm -rf {} +
  cp "$FAIRDISK_MODULE" "$work/wheel/fairdisk/_fairdisk.abi3.so"
  "$environment/bin/wheel" pack --dest-dir "$out" "$work/wheel" >/dev/null
else
  of_maturin build --quiet --locked --profile "$profile" --compatibility linux --out "$out"
fi
wheel=$(ls -t "$out"/fairdisk-*-abi3-*.whl | head -n 1)
echo "made $wheel"
[ "${TRY:-}" = no ] && exit 0

if [ -z "${FAIRDISK_PROGRAM:-}" ]; then
  cargo build --quiet --locked --profile "$profile" -p fairdisk
  # Cargo's profile `dev` is in `debug`.
  FAIRDISK_PROGRAM=${CARGO_TARGET_DIR:-target}/${profile/#dev/debug}/fairdisk
fi
FAIRDISK_PROGRAM=$(realpath "$FAIRDISK_PROGRAM")
export FAIRDISK_PROGRAM PYTHONDONTWRITEBYTECODE=1
"$environment/bin/python" -m venv "$work/fresh"
python=$work/fresh/bin/python
install() { "$environment/bin/uv" pip install --quiet --python "$python" "$@"; }
# What is not named by the package is not needed by it.
install "$wheel"
"$python" -c 'import fairdisk; print(fairdisk.run("two-groups", seeds=1, duration_s=0.1))' >/dev/null
if [ -n "${SHORT:-}" ]; then
  # Packages of the tests are seen where they are, and nothing is downloaded.
  packages() { "$1" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }
  packages "$environment/bin/python" >"$(packages "$python")/tests.pth"
else
  install --requirement python/requirements-test.txt
fi
cp -r python/tests python/examples python/notebooks python/pyproject.toml "$work/"
cd "$work"
# The types that are checked are those of the wheel, as nothing else is here.
"$python" -m mypy --strict examples
for example in examples/*.py; do "$python" "$example" >/dev/null; done
[ -n "${SHORT:-}" ] && chosen=(tests/test_results.py -k equals) || chosen=(tests --ignore=tests/test_types.py)
"$python" -m pytest -q -p no:cacheprovider "${chosen[@]}"
