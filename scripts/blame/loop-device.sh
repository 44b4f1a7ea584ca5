#!/usr/bin/env bash
# Which tunables of a block device make reading slower: a loop device is set up, fio reads from it,
# and `fairdisk blame --command` says which of the tunables between a good and a bad setting cost
# what. It needs root and fio; the device and its file go when the script ends.
#
#   scripts/blame/loop-device.sh [--short] [options of fairdisk blame]
#
# FAIRDISK names the program, FAIRDISK_SCRATCH where the file of the device is made.
. "$(dirname "$0")/../mount/common.sh"

# One run: sets the tunables as the switches say, reads, prints MB/s. DEVICE and RUNTIME are given.
measure() {
  local queue=/sys/block/${DEVICE#/dev/}/queue
  # A scheduler that comes brings its own number of requests: it is first.
  echo "$scheduler" >"$queue/scheduler" || return
  echo "$read_ahead" >"$queue/read_ahead_kb" || return
  echo "$merges" >"$queue/nomerges" || return
  echo "${requests:-128}" >"$queue/nr_requests" || return
  fio --name=read --filename="$DEVICE" --rw=read --bs=4k --ioengine=psync --invalidate=1 \
    --time_based --runtime="$RUNTIME" --output-format=terse --terse-version=3 |
    awk -F ';' '{ print $7 / 1000 }'
}

if [ "${1:-}" = --measure ]; then
  measure
  exit
fi

need fio losetup
short= mib=1024 RUNTIME=1s runs=200 more=(--switch requests=128,4)
if [ "${1:-}" = --short ]; then
  shift
  short=1 mib=128 RUNTIME=200ms runs=32 more=()
fi
start_scratch
dd if=/dev/zero of="$scratch/disk" bs=1M count="$mib" conv=fsync status=none || exit 1
loop_over "$scratch/disk"
DEVICE=$loop
grep -q bfq "/sys/block/${DEVICE#/dev/}/queue/scheduler" || skip "no BFQ in this kernel"
export DEVICE RUNTIME

blame() {
  "$fairdisk" blame --command "$(realpath "$0") --measure" --runs "$runs" \
    --switch read_ahead=128,4 --switch scheduler=none,bfq --switch merges=0,2 "${more[@]}" "$@"
}

if [ -z "$short" ]; then
  blame "$@"
  exit
fi
blame --json "$@" >"$scratch/found.json" || exit
cat "$scratch/found.json"
# Reading ahead is worth more than the noise of any machine: it has the largest part, which is first.
awk '/"effects":/ { effects = 1 } /"change":/ && effects { found = /read_ahead/; exit }
  END { exit !found }' "$scratch/found.json" || die "the read-ahead is not found to matter most"
