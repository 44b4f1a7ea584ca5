#!/usr/bin/env bash
# What a mount costs: the same fio jobs on a bare file, through libfuse's pass-through examples and
# through `fairdisk mount` without and with a scheduler; the CPU time of whoever serves the mount for
# each I/O; and the memory the mount takes at rest and with many files.
#
#   scripts/mount/cost.sh [--short]
#
# All are mounted at once and take turns of a fifth of a second, in an order drawn anew for each, and
# are compared within each round: what disturbs the machine for longer than that disturbs all of them.
#
# FAIRDISK_ROUNDS, FAIRDISK_TURN_MS, FAIRDISK_ARMS, FAIRDISK_COLUMNS, FAIRDISK_DEPTH (requests at the
# disk at once, instead of what suits it) and FAIRDISK_FILES change what is run. It fails if the
# memory is more than promised; the speed is only told.
cd "$(dirname "$0")/../.." || exit 1
. scripts/mount/common.sh

turn_ms=200 rounds=40 mib=1024 files=100000 memory_kib=30720
arms="bare passthrough_ll passthrough_hp unscheduled noop threads two-layer fair"
columns="4k-qd1 4k-4jobs 4k-qd32 1m-reads 1m-writes"
known_arms=$arms known_columns=$columns
# What schedules nothing: the others are compared with the fastest of these.
unscheduled="passthrough_ll passthrough_hp unscheduled"
if [ "${1:-}" = --short ]; then
  rounds=3 mib=128 files=2000 arms="bare unscheduled fair"
fi
turn_ms=${FAIRDISK_TURN_MS:-$turn_ms} rounds=${FAIRDISK_ROUNDS:-$rounds}
check_names FAIRDISK_ARMS "$known_arms"
check_names FAIRDISK_COLUMNS "$known_columns"
arms=${FAIRDISK_ARMS:-$arms} columns=${FAIRDISK_COLUMNS:-$columns} files=${FAIRDISK_FILES:-$files}
check_count FAIRDISK_TURN_MS "$turn_ms"
check_count FAIRDISK_ROUNDS "$rounds"
depth=()
if [ -n "${FAIRDISK_DEPTH:-}" ]; then
  check_count FAIRDISK_DEPTH "$FAIRDISK_DEPTH"
  depth=(--depth "$FAIRDISK_DEPTH")
fi
check_count FAIRDISK_FILES "$files"
rivals=${CARGO_TARGET_DIR:-target}/rivals

declare -A job=(
  ["4k-qd1"]="--rw=randread --bs=4k --ioengine=psync"
  ["4k-4jobs"]="--rw=randread --bs=4k --ioengine=psync --numjobs=4 --thread --group_reporting"
  ["4k-qd32"]="--rw=randread --bs=4k --ioengine=libaio --iodepth=32"
  ["1m-reads"]="--rw=read --bs=1m --ioengine=libaio --iodepth=4"
  ["1m-writes"]="--rw=write --bs=1m --ioengine=libaio --iodepth=4"
)

# ARM: mounts it at $scratch/ARM.
mount_arm() {
  local at=$scratch/$1
  mkdir -p "$at"
  ln -sfn disk.source "$at.source"
  case $1 in
    bare) rmdir "$at" && ln -s disk.source "$at"; return ;;
    passthrough_ll) "$rivals/$1" -o "source=$scratch/disk.source" "$at" ;;
    passthrough_hp) "$rivals/$1" "$scratch/disk.source" "$at" >/dev/null & ;;
    unscheduled) mount_fairdisk "$1" --unscheduled; return ;;
    noop) mount_fairdisk "$1" --scheduler noop "${depth[@]}"; return ;;
    threads) mount_fairdisk "$1" --scheduler fair "${depth[@]}" --io threads; return ;;
    two-layer) mount_fairdisk "$1" --scheduler two-layer-cfq "${depth[@]}"; return ;;
    fair) mount_fairdisk "$1" --scheduler fair "${depth[@]}"; return ;;
  esac
  mounts+=("$at")
  for _ in {1..50}; do mountpoint -q "$at" && return; sleep 0.1; done
  die "$1 does not mount"
}

# ARM, COLUMN: milliseconds, and the I/Os in them.
turn() {
  # shellcheck disable=SC2086
  fio --name=cost --filename="$scratch/$1/file" --size=${mib}m --direct=1 --time_based \
    --runtime="${turn_ms}ms" --output-format=terse --terse-version=3 ${job[$2]} 2>/dev/null |
    awk -F ';' '{ ms = $9 + $50; n += ($8 + $49) * ms / 1000 }
      END { printf "%d %.0f\n", ms, n }'
}

# ARM: who serves its mount. The newest of those processes, for what went into the background may
# still be about to end.
daemon() {
  local pid found=
  for pid in $(pgrep -x "passthrough_[lh][lp]|$(basename "$fairdisk" | cut -c1-15)"); do
    tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q "$scratch/$1 " && found=$pid
  done
  echo "$found"
}

# Ticks of the processor that PID has used.
ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }

# Adds to $scratch/turns: round, column, arm, milliseconds, I/Os, ticks.
measure_all() {
  local order column arm before round
  local -A pid
  order=($arms)
  for arm in "${order[@]}"; do
    mount_arm "$arm"
    [ "$arm" = bare ] || pid[$arm]=$(daemon "$arm")
  done
  # The first round is for the disk to warm up; nobody counts it.
  for ((round = -1; round < rounds; round++)); do
    for column in $columns; do
      mapfile -t order < <(shuf -e "${order[@]}")
      for arm in "${order[@]}"; do
        before=$([ "$arm" = bare ] || ticks "${pid[$arm]}")
        result=$(turn "$arm" "$column")
        [ "$round" -lt 0 ] && continue
        echo "$round $column $arm $result" \
          $([ "$arm" = bare ] || echo $(($(ticks "${pid[$arm]}") - before)))
      done
    done
    progress "$((round + 1)) of $rounds rounds"
  done >"$scratch/turns"
  unmount_all
}

# Says how far it is, on a terminal only.
progress() { [ -t 2 ] && printf '\r%s\033[K' "$1" >&2; }

# The daemon's resident memory, KiB.
resident() { awk '/^VmRSS/ { print $2 }' "/proc/$(daemon disk)/status"; }

memory() {
  local rest many
  mkdir -p "$scratch/disk.source/tree"
  (cd "$scratch/disk.source/tree" &&
    seq 1 "$files" | awk '{ print int($1 / 1000) "/" $1 }' >../names &&
    mkdir $(seq 0 $((files / 1000))) && xargs touch <../names)
  mount_fairdisk disk "${depth[@]}"
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
echo "direct I/O on $(df --output=fstype "$scratch" | tail -n 1), $rounds turns of $turn_ms ms each," \
  "$(nproc) CPUs"
measure_all
awk -v arms="$arms" -v columns="$columns" -v unscheduled="$unscheduled" \
  -v hz="$(getconf CLK_TCK)" -f scripts/mount/cost.awk "$scratch/turns"
memory
