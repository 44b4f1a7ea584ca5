#!/usr/bin/env bash
# The long forms of the tests, for a night rather than for every change. `make test` has the short
# forms. SOAK_SCALE=10 makes all of it ten times longer.
set -uo pipefail
. "$(dirname "$0")/toolchain.sh" || exit 1

scale=${SOAK_SCALE:-1}
experiment=satoshi-2008-05-27-test1
failed=0
step() {
  echo "== $1"
  "${@:2}" || failed=$((failed + 1))
}

# Storms read how many seeds to go through, property tests how many cases to try.
export FAIRDISK_STORM_ROUNDS=$((100 * scale))
export PROPTEST_CASES=$((20000 * scale))
step "storms through every scheduler" \
  cargo test --release --locked --quiet -p fairdisk-sched --test contract
step "storms of faults through the real shell" \
  cargo test --release --locked --quiet -p fairdisk-plane --test storm
step "properties" cargo test --release --locked --quiet -p fairdisk-core -p fairdisk-lab

# One mechanism changed, the rest the same: the score of each.
ablations() {
  local program=${CARGO_TARGET_DIR:-target}/release/fairdisk change label score
  cargo build --release --locked --quiet -p fairdisk || return 1
  printf '%-46s %s\n' "change" "score"
  for change in "" \
    scheduler.cfq.slice_idle_ms=0 \
    scheduler.cfq.key_offset=false \
    scheduler.cfq.slice_from_completion=false \
    scheduler.groups.slice_ms=40 \
    scheduler.groups.slice_ms=400 \
    volume.cached=true \
    host.hz=1000 \
    host.turnaround_us='[50, 50]' \
    host.journal.commit_interval_ms=2000 \
    host.journal.commit_interval_ms=10000 \
    host.queue.requests=1024 \
    device.write_cache.depth=1 \
    device.write_cache.depth=64 \
    device.write_cache.order=fifo \
    device.write_cache.reads_wait_for_dirty=false \
    device.write_cache.enabled=false; do
    label=${change:-"as it is"}
    score=$("$program" run "$experiment" --seeds $((5 * scale)) ${change:+--set "$change"} |
      sed -n 's/^score: //p') || return 1
    printf '%-46s %s\n' "$label" "$score"
  done
}
step "ablations of $experiment" ablations

echo "$failed steps failed"
[ "$failed" -eq 0 ]
