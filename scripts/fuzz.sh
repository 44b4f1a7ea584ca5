#!/usr/bin/env bash
# Fuzzes all that reads files of others, each for a while, guided by what an input reaches:
#
#   scripts/fuzz.sh [SECONDS [PARSER…]]
#
# Inputs that reach something new stay in target/fuzz/corpus, one that is not survived in
# crates/fairdisk-fuzz/corpus, where a test reads it from then on.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. scripts/toolchain.sh || exit 1

seconds=${1:-60}
shift
target=${CARGO_TARGET_DIR:-target}/fuzz
host=$(rustc -vV | sed -n 's/^host: //p')
coverage=(-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
  -Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions --cfg fuzzing)
# Named, so that only what is fuzzed is built with it and not what builds that.
RUSTFLAGS="${coverage[*]}" CARGO_TARGET_DIR=$target CARGO_PROFILE_RELEASE_LTO=off \
  CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
  cargo build --release --quiet --locked --target "$host" -p fairdisk-fuzz --features libfuzzer ||
  exit 1
# Readers of traces open files, thousands a second.
[ -d /dev/shm ] && export TMPDIR=/dev/shm
program=$target/$host/release/fuzz
kept=crates/fairdisk-fuzz/corpus

failed=0
known=$(cargo run --quiet --locked -p fairdisk-fuzz --example parsers) || exit 1
parsers=("$@")
[ $# -gt 0 ] || mapfile -t parsers <<<"$known"
for parser in "${parsers[@]}"; do
  grep -qx -- "$parser" <<<"$known" || {
    echo "$parser: one of" $known >&2
    exit 2
  }
done
for parser in "${parsers[@]}"; do
  mkdir -p "$target/corpus/$parser" "$kept/$parser"
  log=$target/$parser.log
  FAIRDISK_PARSER=$parser "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -max_len=16384 -artifact_prefix="$kept/$parser/" -print_final_stats=1 \
    "$target/corpus/$parser" "$kept/$parser" >"$log" 2>&1 || {
    failed=$((failed + 1))
    echo "$parser: see $log"
    continue
  }
  awk -v name="$parser" '
    /cov:/ { for (i = 1; i < NF; i++) if ($i == "cov:") cov = $(i + 1) }
    /stat::number_of_executed_units/ { count = $2 }
    END { printf "%-12s %9d inputs, %6d edges reached, none was too much\n", name, count, cov }
  ' "$log"
done
exit $((failed > 0))
