#!/usr/bin/env bash
# Buffered fio in a memory cgroup on files of a mount: the reads that come to the mount, beside those
# that the lab expects with the same memory and `host.memory.kernel=now`. What decides is the page
# cache of the kernel at hand.
#
#   scripts/mount/page-cache.sh [--short]
#
# FAIRDISK_LOADS (of "zipf beside loop mixed"), FAIRDISK_SECONDS and FAIRDISK_POINTS change what is
# run. It fails if the lab is off by more than that many points.
cd "$(dirname "$0")/../.." || exit 1
. scripts/mount/common.sh

loads="zipf beside loop mixed" seconds=20 points=3
[ "${1:-}" = --short ] && loads=short
loads=${FAIRDISK_LOADS:-$loads} seconds=${FAIRDISK_SECONDS:-$seconds}
points=${FAIRDISK_POINTS:-$points}
check_names FAIRDISK_LOADS "zipf beside loop mixed short"
check_count FAIRDISK_SECONDS "$seconds"

# LOAD: its sizes of memory in MiB, and the jobs: reads that are counted, and a scan, which always
# misses and is taken off.
sizes_of() {
  case $1 in
    zipf) echo "32 64 96 128" ;;
    beside | loop) echo "48 64 96 128" ;;
    mixed) echo "64 96 128 192" ;;
    short) echo 96 ;;
  esac
}
jobs_of() {
  scanned=0
  printf '%s\n' "[global]" ioengine=sync invalidate=0 thread=1 time_based "runtime=$seconds"
  case $1 in
    zipf)
      counted 400m 3000 && printf '%s\n' random_distribution=zipf:1.1 ;;
    beside)
      counted 40m 2000 && scan 30 ;;
    loop)
      asked=$((60 * 1024 * seconds))
      printf '%s\n' "[counted]" "filename=$scratch/disk/counted" size=100m rw=read bs=128k rate=60m ;;
    mixed | short)
      counted 60m 3000 && scan 60 ;;
  esac
}
# SIZE, READS A SECOND
counted() {
  asked=$(($2 * 4 * seconds))
  printf '%s\n' "[counted]" "filename=$scratch/disk/counted" "size=$1" rw=randread bs=4k \
    norandommap random_generator=tausworthe64 "rate_iops=$2"
}
# MIB A SECOND
scan() {
  scanned=$(($1 * 1024 * seconds))
  printf '%s\n' "[scan]" "filename=$scratch/disk/scan" size=512m rw=read bs=128k "rate=$1m"
}

# A cgroup with a limit, of version 1 or 2.
find_memory() {
  memory=$(awk '/ - cgroup .*[ ,]memory(,|$)/ { print $5; exit }' /proc/self/mountinfo)
  limit=memory.limit_in_bytes
  [ -n "$memory" ] && return
  memory=$(awk '/ - cgroup2 / { print $5; exit }' /proc/self/mountinfo)
  limit=memory.max
  [ -n "$memory" ] && grep -qw memory "$memory/cgroup.controllers" || skip "no memory controller"
  echo +memory >"$memory/cgroup.subtree_control" 2>/dev/null
}

# A new mount, of which nothing is in memory. The files are written through it and past its cache: of
# what was changed behind its back, a mount lets the kernel keep nothing for ten seconds.
mount_with_files() {
  mount_fairdisk disk --scheduler noop
  # As much as the lab's host has.
  echo 128 >"/sys/class/bdi/$(mountpoint -d "$scratch/disk")/read_ahead_kb"
  lay counted 400
  lay scan 512
}

# NAME, MIB
lay() {
  dd if=/dev/zero of="$scratch/disk/$1" bs=1M count="$2" oflag=direct status=none || die "no room"
}

# KiB of reads that have come to the mount.
arrived() {
  "$fairdisk" ctl --at "$scratch/disk" list --json |
    awk -F '[:,]' '/"read_bytes":/ { bytes += $2 } END { print int(bytes / 1024) }'
}

# LOAD, MIB: what was missed of the reads that are counted, in percent.
measure() {
  local at=$memory/fairdisk-$$-$1-$2 before used beside
  mkdir "$at" && echo $(($2 << 20)) >"$at/$limit" || skip "no limit of memory can be set"
  groups=("$at" "${groups[@]}")
  before=$(arrived)
  (echo "$BASHPID" >"$at/cgroup.procs" && exec fio --minimal "$scratch/$1.fio") \
    >"$scratch/fio.out" 2>"$scratch/fio.err" || { cat "$scratch/fio.err" >&2; die "fio failed"; }
  used=$(awk -F ';' '$3 == "counted" { print $6 }' "$scratch/fio.out")
  # Slower, it is another load.
  [ "$used" -ge $((asked * 8 / 10)) ] || skip "this machine is too busy: $used of $asked KiB were read"
  beside=$(awk -F ';' '$3 == "scan" { print $6 }' "$scratch/fio.out")
  missed=$(awk -v a="$(arrived)" -v b="$before" -v u="$used" -v s="${beside:-0}" \
    'BEGIN { printf "%.1f", 100 * (a - b - s) / u }')
}

# LOAD, MIB: the same in the lab.
expect() {
  expected=$("$fairdisk" run "$scratch/$1.fio" --device null --scheduler noop --seeds 3 --quiet \
    --set host.memory.kernel=now --sweep "host.memory.mib=$2" --metric missed --json |
    awk -F '[:,]' -v s="$scanned" -v u="$asked" '/"mean":/ {
      printf "%.1f", ($2 * (u + s) - 100 * s) / u; exit }')
  [ -n "$expected" ] || die "the lab runs no $1"
}

need fio
find_memory
# In memory, as the rates are to be kept on any disk.
export FAIRDISK_SCRATCH=${FAIRDISK_SCRATCH:-/dev/shm}
start_scratch

echo "missed reads in %, through a mount of $(uname -sr) and in the lab, $seconds s each"
echo "  load    MiB   mount     lab"
off=()
for load in $loads; do
  jobs_of "$load" >"$scratch/$load.fio"
  for mib in $(sizes_of "$load"); do
    mount_with_files
    measure "$load" "$mib"
    unmount_all
    expect "$load" "$mib"
    printf '  %-7s %3d %7.1f %7.1f\n' "$load" "$mib" "$missed" "$expected"
    awk -v m="$missed" -v e="$expected" -v p="$points" 'BEGIN { exit !((m - e) ^ 2 <= p * p) }' ||
      off+=("$load with $mib MiB: $missed through the mount, $expected in the lab")
  done
done
[ ${#off[@]} -eq 0 ] || { printf 'off: %s\n' "${off[@]}"; exit 1; }
