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
echo "== tests are built, those of the documentation run"
programs=$(mktemp)
trap 'rm -f "$programs"*' EXIT
host=$(rustc -vV | sed -n 's/^host: //p' | tr 'a-z-' 'A-Z_')
env "CARGO_TARGET_${host}_RUNNER=$PWD/scripts/test-program.sh" FAIRDISK_TEST_PROGRAMS="$programs" \
  cargo test --workspace --locked --no-fail-fast -- --show-output 2>&1 | tee "$log" | awk "$show"
status=${PIPESTATUS[0]}

# A line of the list, what else the program is asked: runs it where cargo would. What libtest calls
# unstable is how long each test took.
run_program() {
  local package where program
  IFS=$'\t' read -r package where program <<<"$1"
  # cargo's name of a program ends with a number that says nothing.
  local name=${program##*/}
  echo "     Running ${name%-*} of $package"
  cd "$where" && RUSTC_BOOTSTRAP=1 CARGO_MANIFEST_DIR=$where \
    "$program" -Zunstable-options --report-time --show-output "${@:2}" 2>&1
}
# A line of the list, the log of its program: notes a program that ended before it told of all tests.
demand_result() {
  grep -q '^test result:' "$2" || echo "${1##*/}" >>"$programs.ended"
}
# The same into a log of its own, which is told when the program has ended.
run_apart() {
  local own
  own=$(mktemp "$programs.XXXXXX")
  run_program "$1" >"$own"
  local ended=$?
  [ "$ended" -eq 0 ] || demand_result "$1" "$own"
  flock "$programs" cat "$own"
  return "$ended"
}
export -f run_program run_apart demand_result
export programs

# Programs of real time, real disks and real programs: one after another. All others give the same
# on every machine and beside others.
real=$'^fairdisk(-mount|-plane|-python)?\t|/(doctor|kernel|browser)-[0-9a-f]*$'
if [ ! -s "$programs" ]; then
  broken+=("no test program was built")
  failed=$((failed + 1))
fi
began=$SECONDS
echo "== pure tests, side by side"
grep -vE "$real" "$programs" |
  xargs -r -d '\n' -n 1 -P "$(nproc)" bash -c 'run_apart "$1"' _ |
  tee -a "$log" | awk "$show"
[ "${PIPESTATUS[1]}" -eq 0 ] || status=1
pure_seconds=$((SECONDS - began))

# Of a log: tests passed, failed and ignored, and how many of the passed ones say they skipped.
count() {
  awk '
    /^test result:/ { ok += $4; bad += $6; ignored += $8 }
    /^---- .* stdout ----$/ { test = NR }
    /^skipped[:,]/ && !(test in seen) { seen[test] = 1; absent++ }
    END { print ok + 0, bad + 0, ignored + 0, absent + 0 }
  ' "$@"
}

# Of logs: the names of the tests that failed.
names_of_failed() {
  awk '
    /^failures:$/ { list = 1 }
    /^test result:/ { list = 0 }
    list && /^    [a-z0-9_:]+$/ { print $1 }
    list && /^    [^ ]+ - .* \(line [0-9]+\)$/ { sub(/^ +/, ""); print }
  ' "$@"
}

# The slowest tests of logs, slowest first, with their seconds.
slowest() {
  sed -n 's/^test \(.*\) \.\.\. ok <\([0-9.]*\)s>$/\2 s  \1/p' "$@" | sort -rn | head -n 10
}

echo "== tests in real time, one after another"
began=$SECONDS
# Programs with tests that failed, and the names of these.
unwell=() names=()
: >"$log.real"
while read -r line; do
  run_program "$line" </dev/null | tee "$log.one" | awk "$show"
  ended=${PIPESTATUS[0]}
  cat "$log.one" >>"$log.real"
  [ "$ended" -eq 0 ] && continue
  demand_result "$line" "$log.one"
  unwell+=("$line")
  names+=("$(names_of_failed "$log.one" | tr '\n' ' ')")
done < <(grep -E "$real" "$programs")

# Tests of real time may fail because the machine was busy. Each that failed is tried once more with
# nothing beside it, and named; one that fails again has failed.
read -r ok bad ignored absent < <(count "$log.real")
last=$log.real
if [ "$bad" -gt 0 ] && [ "$bad" -le 5 ]; then
  echo "== once more, one by one: ${names[*]}"
  last=$log.again
  : >"$last"
  for at in "${!unwell[@]}"; do
    [ -n "${names[at]}" ] || continue
    # shellcheck disable=SC2086 # several names
    run_program "${unwell[at]}" --exact --test-threads=1 ${names[at]} </dev/null |
      tee -a "$last" | awk "$show"
  done
  read -r again_ok _ _ again_absent < <(count "$last")
  echo "$again_ok of $bad that failed beside others passed alone"
  bad=$((bad - again_ok)) ok=$((ok + again_ok)) absent=$((absent + again_absent))
fi
real_seconds=$((SECONDS - began))
mapfile -t -O "${#broken[@]}" broken < <(names_of_failed "$log" "$last")
read -r pure_ok pure_bad pure_ignored pure_absent < <(count "$log")
ok=$((ok + pure_ok)) bad=$((bad + pure_bad))
ignored=$((ignored + pure_ignored)) absent=$((absent + pure_absent))

if [ -e "$programs.ended" ]; then
  while read -r program; do
    broken+=("$program ended without a result")
    failed=$((failed + 1))
  done <"$programs.ended"
fi

passed=$((passed + ok - absent)) failed=$((failed + bad)) skipped=$((skipped + ignored + absent))
if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then
  failed=1
  broken+=("tests that do not compile")
fi

if [ "${CI:-}" = true ] && [ "$skipped" -gt 0 ]; then
  echo "with CI=true nothing may be skipped"
  failed=$((failed + 1))
  broken+=("skips")
fi
echo "pure tests took $pure_seconds s, those in real time $real_seconds s; the slowest ten:"
slowest "$log" "$log.real" | sed 's/^/  /'
[ "$failed" -eq 0 ] || printf 'failed: %s\n' "${broken[@]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
