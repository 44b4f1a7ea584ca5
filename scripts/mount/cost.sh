#!/usr/bin/env bash
# What a mount costs: the same fio jobs on a bare file, through libfuse's pass-through examples and
# through `fairdisk mount` without and with a scheduler, back to back; the CPU time of whoever serves
# the mount for each I/O; and the memory the mount takes at rest and with many files. Trust ratios
# within one run more than figures, and on a busy machine the CPU time more than the rates.
#
#   scripts/mount/cost.sh [--short]
#
# FAIRDISK_SECONDS, FAIRDISK_REPEATS (medians are shown), FAIRDISK_ARMS and FAIRDISK_FILES change
# what is run. It fails if the memory is more than promised; the speed is only told.
cd "$(dirname "$0")/../.." || exit 1
. scripts/mount/common.sh

seconds=3 repeats=3 mib=1024 files=100000 memory_kib=30720
arms="bare passthrough_ll passthrough_hp unscheduled noop threads two-layer fair"
if [ "${1:-}" = --short ]; then
  seconds=1 repeats=1 mib=128 files=2000 arms="bare fair"
fi
seconds=${FAIRDISK_SECONDS:-$seconds} repeats=${FAIRDISK_REPEATS:-$repeats}
check_arms "${FAIRDISK_ARMS:-}" "bare passthrough_ll passthrough_hp unscheduled noop threads two-layer fair"
arms=${FAIRDISK_ARMS:-$arms} files=${FAIRDISK_FILES:-$files}
rivals=${CARGO_TARGET_DIR:-target}/rivals

columns=("4k-qd1" "4k-4jobs" "4k-qd32" "1m-reads" "1m-writes")
declare -A job=(
  ["4k-qd1"]="--rw=randread --bs=4k --ioengine=psync"
  ["4k-4jobs"]="--rw=randread --bs=4k --ioengine=psync --numjobs=4 --thread --group_reporting"
  ["4k-qd32"]="--rw=randread --bs=4k --ioengine=libaio --iodepth=32"
  ["1m-reads"]="--rw=read --bs=1m --ioengine=libaio --iodepth=4"
  ["1m-writes"]="--rw=write --bs=1m --ioengine=libaio --iodepth=4"
)

# ARM: mounts; where the file appears in $at.
mount_arm() {
  at=$scratch/disk
  mkdir -p "$at"
  case $1 in
    bare) at=$scratch/disk.source; return ;;
    passthrough_ll) "$rivals/$1" -o "source=$scratch/disk.source" "$at" ;;
    passthrough_hp) "$rivals/$1" "$scratch/disk.source" "$at" >/dev/null & ;;
    unscheduled) mount_fairdisk disk --unscheduled; return ;;
    noop) mount_fairdisk disk --scheduler noop --depth 32; return ;;
    threads) mount_fairdisk disk --scheduler fair --depth 32 --io threads; return ;;
    two-layer) mount_fairdisk disk --scheduler two-layer-cfq --depth 32; return ;;
    fair) mount_fairdisk disk --scheduler fair --depth 32; return ;;
  esac
  mounts+=("$at")
  for _ in {1..50}; do mountpoint -q "$at" && return; sleep 0.1; done
  die "$1 does not mount"
}

# I/Os per second of a column's job.
rate() {
  # shellcheck disable=SC2086
  fio --name=cost --filename="$at/file" --size=${mib}m --direct=1 --time_based --runtime="$seconds" \
    --output-format=terse --terse-version=3 ${job[$1]} | awk -F ';' '{ n += $8 + $49 }
      END { printf "%.0f\n", n }'
}

# Who serves the mount: the newest of those processes, for what went into the background may still be
# about to end.
daemon() {
  local pid found=
  for pid in $(pgrep -x "passthrough_[lh][lp]|$(basename "$fairdisk" | cut -c1-15)"); do
    tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q "$scratch/disk " && found=$pid
  done
  echo "$found"
}

# Ticks of the processor it has used.
ticks() { [ -n "$1" ] && awk '{ print $14 + $15 }' "/proc/$1/stat"; }

# ARM, COLUMN: the rate, and the microseconds of processor time that each I/O took.
measure() {
  local pid before result
  [ "$1" = bare ] || pid=$(daemon)
  before=$(ticks "${pid:-}")
  result=$(rate "$2")
  echo "$result" >>"$scratch/$1.$2"
  [ -n "${pid:-}" ] && [ "$result" -gt 0 ] &&
    awk -v t=$(($(ticks "$pid") - before)) -v n="$result" -v s="$seconds" -v hz="$(getconf CLK_TCK)" \
      'BEGIN { print t * 1000000 / hz / (n * s) }' >>"$scratch/$1.$2.cpu"
}

median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

measure_all() {
  local arm column
  for ((round = 0; round < repeats; round++)); do
    for arm in $arms; do
      mount_arm "$arm"
      for column in "${columns[@]}"; do measure "$arm" "$column"; done
      unmount_all
    done
  done
}

table() {
  local arm column rates bare
  printf '  %-16s' "I/Os per second"
  printf '%18s' "${columns[@]}"
  echo
  for arm in $arms; do
    printf '  %-16s' "$arm"
    for column in "${columns[@]}"; do
      rates=$(median <"$scratch/$arm.$column") bare=$(median <"$scratch/bare.$column")
      # libfuse's examples refuse direct writes.
      awk -v r="$rates" -v b="$bare" 'BEGIN {
        if (r > 0) printf "%11d (%.2f)", r, r / b; else printf "%18s", "-" }'
    done
    echo
  done
  echo "  (in brackets: of the bare file's)"
}

cpu_table() {
  local arm column
  printf '  %-16s' "CPU µs per I/O"
  printf '%18s' "${columns[@]}"
  echo
  for arm in ${arms/bare/}; do
    printf '  %-16s' "$arm"
    for column in "${columns[@]}"; do
      if [ -s "$scratch/$arm.$column.cpu" ]; then
        printf '%18.1f' "$(median <"$scratch/$arm.$column.cpu")"
      else
        printf '%18s' -
      fi
    done
    echo
  done
}

# The daemon's resident memory, KiB.
resident() { awk '/^VmRSS/ { print $2 }' "/proc/$(daemon)/status"; }

memory() {
  local rest many
  mkdir -p "$scratch/disk.source/tree"
  (cd "$scratch/disk.source/tree" &&
    seq 1 "$files" | awk '{ print int($1 / 1000) "/" $1 }' >../names &&
    mkdir $(seq 0 $((files / 1000))) && xargs touch <../names)
  mount_fairdisk disk --depth 32
  rest=$(resident)
  # Every name and every attribute, so that the kernel knows all of them.
  find "$scratch/disk/tree" -type f -size -1 | wc -l >"$scratch/found"
  many=$(resident)
  unmount_all
  echo "  resident at rest $((rest / 1024)).$((rest % 1024 * 10 / 1024)) MiB, after $(cat "$scratch/found") files" \
    "were looked at $((many / 1024)).$((many % 1024 * 10 / 1024)) MiB"
  [ "$rest" -le $memory_kib ] || { echo "missed: more than $((memory_kib / 1024)) MiB at rest"; return 1; }
}

need fio pgrep
start_scratch
case $arms in *passthrough*)
  if ! scripts/mount/rivals.sh "$(realpath -m "$rivals")" >"$scratch/rivals.log" 2>&1; then
    echo "note: libfuse's examples cannot be built: $(tail -n 1 "$scratch/rivals.log")"
    arms=${arms//passthrough_ll/} arms=${arms//passthrough_hp/}
  fi ;;
esac
mkdir -p "$scratch/disk.source"
head -c ${mib}M /dev/zero >"$scratch/disk.source/file" || die "no room in $scratch"
sync -f "$scratch"
echo "direct I/O on $(df --output=fstype "$scratch" | tail -n 1), $seconds s each," \
  "medians of $repeats, $(nproc) CPUs"
measure_all
table
cpu_table
memory
