#!/usr/bin/env bash
# What things cost, as a table. Times are CPU times, medians of three where a run is short; trust
# ratios within one run of this script more than figures of two machines.
#
#   scripts/bench.sh [PART…]
#
# Without a part all of them are run.
set -uo pipefail
. "$(dirname "$0")/toolchain.sh" || exit 1

target=${CARGO_TARGET_DIR:-target}
experiment=satoshi-2008-05-27-test1
seeds=${FAIRDISK_BENCH_SEEDS:-200}

parts=(lab decision memory instructions isolation rules python real-disk mount)
chosen=("${@:-${parts[@]}}")
for part in "${chosen[@]}"; do
  [[ " ${parts[*]} " == *" $part "* ]] || {
    echo "no part \"$part\"; known: ${parts[*]}" >&2
    exit 2
  }
done

cargo build --release --locked --quiet -p fairdisk || exit 1
program=$target/release/fairdisk

# Name, value, unit.
line() { printf '%-52s %14s  %s\n' "$1" "$2" "$3"; }

# CPU seconds of a command, its own output thrown away.
cpu_seconds() {
  local TIMEFORMAT='%U %S'
  { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print $1 + $2 }'
}

median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

one_row() { "$program" run "$experiment" --arm two-layer --row '#1' --json --seeds "$1" "${@:2}"; }

# A bench of a crate. What cargo says is shown if it fails.
bench() {
  local said
  said=$(mktemp)
  cargo bench --locked --quiet -p "$1" --bench "$2" 2>"$said" || {
    cat "$said" >&2
    failed=1
  }
  rm -f "$said"
}

# I/Os of the programs, and requests with metadata and ext3 journal, from the JSON on standard input.
program_ios() {
  awk -v n="$1" '/"total": \{/ { total = 1 } total && /"ios":/ { print int($2 * n); exit }'
}
submitted() { sed -n 's/^ *"submitted": \([0-9]*\),*/\1/p' | head -n 1; }
per_second() { awk -v n="${1:-0}" -v s="$2" 'BEGIN { printf "%.2f", s ? n / s / 1e6 : 0 }'; }

part_lab() {
  echo "== the lab: $experiment, two-layer, row #1"
  local ios requests cpu
  ios=$(one_row "$seeds" | program_ios "$seeds")
  requests=$(one_row "$seeds" | submitted)
  cpu=$(for _ in 1 2 3; do cpu_seconds one_row "$seeds"; done | median)
  line "I/Os of programs in $seeds runs of 120 s" "$ios" ""
  line "requests, metadata and ext3 journal included" "$requests" ""
  line "simulated I/Os of programs per CPU-second" "$(per_second "$ios" "$cpu")" "million"
  line "simulated requests per CPU-second" "$(per_second "$requests" "$cpu")" "million"
  line "start-up: one run of 1 ms, CPU time" \
    "$(for _ in 1 2 3; do cpu_seconds one_row 1 --duration 1ms; done | median)" "s"
}

part_decision() {
  echo "== a decision: submit, admit, decide, complete; CPU time and instructions for each request"
  bench fairdisk-sched decide
}

part_memory() {
  echo "== memory: a page read and reclaimed"
  bench fairdisk-sim memory
}

part_instructions() {
  command -v valgrind >/dev/null || {
    echo "skipped: valgrind is not installed, no instruction counts"
    return
  }
  echo "== instructions (valgrind, exact from run to run)"
  count() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" run "$experiment" \
      --arm two-layer --row '#1' --seeds 1 --json --duration "$1" 2>&1 >/dev/null |
      sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
  }
  local short long more
  short=$(count 10s) long=$(count 60s)
  more=$(($(one_row 1 --duration 60s | submitted) - $(one_row 1 --duration 10s | submitted)))
  line "start-up and 10 s" "$short" "instructions"
  line "each simulated request" \
    "$(awk -v a="$short" -v b="$long" -v n="$more" 'BEGIN { printf "%.0f", (b - a) / n }')" \
    "instructions"
}

part_isolation() {
  echo "== who gets what beside whom: fairdisk compare isolation, and what fair misses of its goals"
  # A floor that is refused, which makes the status 1, is a finding like others.
  { "$program" compare isolation --quiet \
    --device fixed-8ms,hdd-7200-2007,hdd-ncq,raid5-4,sata-ssd,nvme || [[ $? -eq 1 ]]; } |
    sed -n '/^over all of them/,$p' || failed=1
  FAIRDISK_ISOLATION=long cargo test --release --locked --quiet -p fairdisk-lab --test isolation -- \
    --nocapture || failed=1
}

part_rules() {
  echo "== what each rule of fair is worth: the matrix and further loads without it"
  FAIRDISK_ISOLATION=rules cargo test --release --locked --quiet -p fairdisk-lab --test isolation -- \
    --nocapture || failed=1
}

# With UPDATE=1 the tables of docs/real-disk.md and of the README are written, too.
part_real-disk() {
  echo "== loads on real disks, the schedulers in turns"
  FAIRDISK_REAL_DISK=long cargo test --release --locked --quiet -p fairdisk --test mount \
    real_disk -- --nocapture || failed=1
}

# A mount and what it is compared with; the short forms are tests.
# FAIRDISK_PYTHON_RUNS is the length of the sweep on pools beside threads.
part_python() {
  echo "== Python: a call, a large table, a sweep on Ray, Dask and joblib beside threads"
  local environment work
  environment=$(scripts/python.sh) || { failed=1; return; }
  cargo build --release --locked --quiet -p fairdisk-python || { failed=1; return; }
  work=$(mktemp -d)
  cp -r python/fairdisk "$work/"
  ln -sf "$(realpath "$target/release/lib_fairdisk.so")" "$work/fairdisk/_fairdisk.abi3.so"
  PYTHONPATH=$work "$environment/bin/python" scripts/python-bench.py "${FAIRDISK_PYTHON_RUNS:-10000}" \
    2>/dev/null || failed=1
  rm -rf "$work"
}

part_mount() {
  local compared
  for compared in cost against-kernel database writing-backup page-cache round-trip; do
    echo "== a mount: scripts/mount/$compared.sh"
    FAIRDISK=$(realpath "$program") "scripts/mount/$compared.sh" || failed=1
    echo
  done
}

echo "machine: $(nproc) CPUs, $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)"
echo "rustc:   $(rustc --version)"
echo
for part in "${chosen[@]}"; do
  "part_$part"
  echo
done
exit "${failed:-0}"
