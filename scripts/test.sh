#!/usr/bin/env bash
# Everything that must hold: format, lints, all tests of the workspace (licences, tidiness and the
# commands of the documents among them). The last line sums it up. A test that misses something it
# needs prints a line that begins with "skipped" and counts as skipped, not as passed; with CI=true
# a skip is a failure.
set -uo pipefail
. "$(dirname "$0")/toolchain.sh" || exit 1

log=${CARGO_TARGET_DIR:-target}/test.log
mkdir -p "$(dirname "$log")"
passed=0 failed=0 skipped=0
# What failed, by name, for the end.
broken=()

# Name, command: one thing that passes or fails.
step() {
  echo "== $1"
  if "${@:2}"; then passed=$((passed + 1)); else
    failed=$((failed + 1))
    broken+=("$1")
  fi
}

# A cargo subcommand that may not be installed.
have() {
  cargo "$1" --version >/dev/null 2>&1 && return 0
  echo "== $1"
  echo "skipped: cargo $1 is not installed (rustup component add $2)"
  skipped=$((skipped + 1))
  return 1
}

have fmt rustfmt && step "format" cargo fmt --all --check
have clippy clippy &&
  step "lints" cargo clippy --quiet --workspace --all-targets --locked -- -D warnings

# What passing tests print is kept in the log; of it only the skips are shown.
show='
  /^successes:$/ { quiet = 1; next }
  /^(failures:|test result:)/ { quiet = 0 }
  !quiet || /^skipped[:,]/
'
echo "== tests"
# Only the test programs get what libtest calls unstable, which is how long each test took; for
# cargo it would mean that everything has to be built anew.
host=$(rustc -vV | sed -n 's/^host: //p' | tr 'a-z-' 'A-Z_')
export "CARGO_TARGET_${host}_RUNNER=$PWD/scripts/timed-test.sh"
cargo test --workspace --locked --no-fail-fast -- --show-output 2>&1 | tee "$log" | awk "$show"
status=${PIPESTATUS[0]}

# Of a log: tests passed, failed and ignored, and how many of the passed ones say they skipped.
count() {
  awk '
    /^test result:/ { ok += $4; bad += $6; ignored += $8 }
    /^---- .* stdout ----$/ { test = NR }
    /^skipped[:,]/ && !(test in seen) { seen[test] = 1; absent++ }
    END { print ok + 0, bad + 0, ignored + 0, absent + 0 }
  ' "$1"
}
read -r ok bad ignored absent < <(count "$log")

# Of a log: the names of the tests that failed.
names_of_failed() {
  awk '
    /^failures:$/ { list = 1 }
    /^test result:/ { list = 0 }
    list && /^    [a-z0-9_:]+$/ { print $1 }
  ' "$1"
}

# The slowest tests of a log, slowest first, with their seconds.
slowest() {
  sed -n 's/^test \(.*\) \.\.\. ok <\([0-9.]*\)s>$/\2 s  \1/p' "$1" | sort -rn | head -n 10
}

# Whether only tests of real time and real programs failed: those of the program, of mounts and of
# real disks. Others give the same on every machine, and a failure is one.
are_real() {
  ! sed -n 's/^    `-p \([^ ]*\) .*`$/\1/p' "$log" | grep -qvxE 'fairdisk|fairdisk-mount|fairdisk-plane'
}

# Tests of real time may fail because the machine was busy. Each that failed is tried once more with
# nothing beside it, and named; one that fails again has failed.
try_again() {
  local names targets target
  mapfile -t names < <(names_of_failed "$log")
  # Without the package: of the whole workspace, as before. A package alone has other features and
  # is built anew.
  mapfile -t targets < <(sed -n 's/^    `-p [^ ]* \(.*\)`$/\1/p' "$log" | sort -u)
  [ "${#names[@]}" -eq "$bad" ] && [ "${#targets[@]}" -gt 0 ] || return
  echo "== once more, one by one: ${names[*]}"
  for target in "${targets[@]}"; do
    # shellcheck disable=SC2086 # several words
    cargo test --workspace --locked $target -- \
      --exact --show-output --test-threads=1 "${names[@]}" 2>&1
  done | tee "$log.again" | awk "$show"
  local again_ok again_bad again_absent _
  read -r again_ok again_bad _ again_absent < <(count "$log.again")
  [ $((again_ok + again_bad)) -eq "$bad" ] || return
  last=$log.again
  ok=$((ok + again_ok)) bad=$again_bad absent=$((absent + again_absent)) status=$again_bad
  echo "$again_ok of ${#names[@]} that failed beside others passed alone"
}
last=$log
[ "$bad" -gt 0 ] && [ "$bad" -le 5 ] && are_real && try_again
mapfile -t -O "${#broken[@]}" broken < <(names_of_failed "$last")

passed=$((passed + ok - absent)) failed=$((failed + bad)) skipped=$((skipped + ignored + absent))
if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
  failed=$((failed + 1))
  broken+=("tests that do not compile or that ended their process")
fi

if [ "${CI:-}" = true ] && [ "$skipped" -gt 0 ]; then
  echo "with CI=true nothing may be skipped"
  failed=$((failed + 1))
  broken+=("skips")
fi
echo "the slowest ten:"
slowest "$log" | sed 's/^/  /'
[ "$failed" -eq 0 ] || printf 'failed: %s\n' "${broken[@]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
