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

# How many storms instead of one, and how many cases of each property.
export FAIRDISK_STORM_FACTOR=$((20 * scale))
export PROPTEST_CASES=$((20000 * scale))
step "storms through every scheduler" \
  cargo test --release --locked --quiet -p fairdisk-sched --test contract
step "storms of faults through the real shell" \
  cargo test --release --locked --quiet -p fairdisk-plane --test storm
step "properties of the engine" cargo test --release --locked --quiet -p fairdisk-core
step "properties of job files" \
  cargo test --release --locked --quiet -p fairdisk-lab --test jobfile
step "shares in real time, 30 s on a file" env FAIRDISK_REAL_TIME_LONG=1 \
  cargo test --release --locked --quiet -p fairdisk --test cli real_time -- --nocapture
export FAIRDISK_SWITCHES=$((10000 * scale))
step "real programs through a mount, $FAIRDISK_SWITCHES switches" env FAIRDISK_SOAK=1 \
  cargo test --release --locked --quiet -p fairdisk --test mount -- --nocapture
export FAIRDISK_KILLS=$((200 * scale))
step "kill -9 at random points, $FAIRDISK_KILLS rounds" \
  cargo test --release --locked --quiet -p fairdisk-mount --test mounted after_a_kill
export FAIRDISK_OPERATIONS=$((20000 * scale))
suites_of_others() {
  cargo build --release --locked --quiet -p fairdisk && scripts/mount/suites.sh
}
step "suites of others through a mount and on a bare file system" suites_of_others
under_systemd() {
  cargo build --release --locked --quiet -p fairdisk &&
    FAIRDISK=${CARGO_TARGET_DIR:-target}/release/fairdisk scripts/mount/systemd.sh --short
}
step "the unit under systemd" under_systemd
export FAIRDISK_ABLATION_SEEDS=$((10 * scale))
step "causes and their effects, $FAIRDISK_ABLATION_SEEDS seeds" \
  cargo test --release --locked --quiet -p fairdisk-lab --test experiments causes_have -- --nocapture

export FAIRDISK_FAIR_STORMS=$((10000 * scale))
step "waits and order of groups under fair, $FAIRDISK_FAIR_STORMS storms" \
  cargo test --release --locked --quiet -p fairdisk-sched --test fair_wait --test fair_order
export FAIRDISK_STORMS=$((10000 * scale))
step "memory page by page, $FAIRDISK_STORMS storms" \
  cargo test --release --locked --quiet -p fairdisk-sim --test short_memory

# Values that are assumed or calibrated, and what the score is with others.
other_values() {
  local program=${CARGO_TARGET_DIR:-target}/release/fairdisk change label score
  cargo build --release --locked --quiet -p fairdisk || return 1
  printf '%-46s %s\n' "change" "score"
  for change in "" \
    scheduler.cfq.slice_from_completion=false \
    scheduler.groups.slice_ms=40 \
    scheduler.groups.slice_ms=400 \
    host.turnaround_us='[50, 50]' \
    host.journal.commit_interval_ms=2000 \
    host.journal.commit_interval_ms=10000 \
    host.queue.requests=1024 \
    device.write_cache.depth=1 \
    device.write_cache.depth=64 \
    device.write_cache.order=fifo; do
    label=${change:-"as it is"}
    score=$("$program" run "$experiment" --seeds $((5 * scale)) ${change:+--set "$change"} |
      sed -n 's/^score: //p') || return 1
    printf '%-46s %s\n' "$label" "$score"
  done
}
step "other values, $experiment" other_values

step "all that reads files of others, $((225 * scale)) s each" scripts/fuzz.sh $((225 * scale))
step "the wheel in a fresh environment" scripts/wheel.sh
step "the image, and a mount in it" scripts/image-test.sh

echo "$failed steps failed"
[ "$failed" -eq 0 ]
