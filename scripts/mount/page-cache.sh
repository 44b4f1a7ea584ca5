#!/usr/bin/env bash
# Buffered fio in a memory cgroup, on ext4 on loop devices over files of a mount: the reads that come
# to the mount, beside those that the lab expects with the same memory and
# `host.memory.kernel=now`. What decides is the page cache of the kernel at hand.
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

# LOAD: its sizes of memory in MiB, and the jobs: reads that are counted, and a scan on a disk of its
# own, which always misses. In the lab, whose figures are of both, it is taken off.
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
      printf '%s\n' "[counted]" "filename=$scratch/counted/file" size=100m rw=read bs=128k rate=60m ;;
    mixed | short)
      counted 60m 3000 && scan 60 ;;
  esac
}
# SIZE, READS A SECOND
counted() {
  asked=$(($2 * 4 * seconds))
  printf '%s\n' "[counted]" "filename=$scratch/counted/file" "size=$1" rw=randread bs=4k \
    norandommap random_generator=tausworthe64 "rate_iops=$2"
}
# MIB A SECOND
scan() {
  scanned=$(($1 * 1024 * seconds))
  printf '%s\n' "[scan]" "filename=$scratch/scan/file" size=512m rw=read bs=128k "rate=$1m"
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

# NAME, SIZE in MiB: an image with ext4 and a file of that size.
lay_image() {
  local image=$scratch/disk.source/$1
  mkdir "$scratch/$1"
  truncate -s $(($2 + 64))M "$image" && mkfs.ext4 -q -O ^has_journal "$image" || die "no ext4"
  loop_over "$image"
  mount "$loop" "$scratch/$1" && mounts+=("$scratch/$1")
  dd if=/dev/zero of="$scratch/$1/file" bs=1M count="$2" conv=fsync status=none || die "no room"
}

# NAME: shows the image through the mount, with as much read-ahead as the lab's host has.
show_image() {
  loop_over "$scratch/disk/$1"
  mount -o noatime "$loop" "$scratch/$1" && mounts+=("$scratch/$1")
  echo 128 >"/sys/block/${loop#/dev/}/queue/read_ahead_kb"
  [ "$1" = scan ] || disk=${loop#/dev/}
}

# KiB read from the disk of what is counted.
arrived() { awk '{ print $3 / 2 }' "/sys/block/$disk/stat"; }

# LOAD, MIB: what was missed of the reads that are counted, in percent.
measure() {
  local at=$memory/fairdisk-$$-$1-$2 before used
  mkdir "$at" && echo $(($2 << 20)) >"$at/$limit" || skip "no limit of memory can be set"
  groups=("$at" "${groups[@]}")
  before=$(arrived)
  (echo "$BASHPID" >"$at/cgroup.procs" && exec fio --minimal "$scratch/$1.fio") \
    >"$scratch/fio.out" 2>"$scratch/fio.err" || { cat "$scratch/fio.err" >&2; die "fio failed"; }
  used=$(awk -F ';' '$3 == "counted" { print $6 }' "$scratch/fio.out")
  # Slower, it is another load.
  [ "$used" -ge $((asked * 8 / 10)) ] || skip "this machine is too busy: $used of $asked KiB were read"
  missed=$(awk -v a="$(arrived)" -v b="$before" -v u="$used" \
    'BEGIN { printf "%.1f", 100 * (a - b) / u }')
}

# LOAD, MIB: the same in the lab.
expect() {
  expected=$("$fairdisk" run "$scratch/$1.fio" --device null --scheduler noop --seeds 3 --quiet \
    --set host.memory.kernel=now --sweep "host.memory.mib=$2" --metric missed --json |
    awk -F '[:,]' -v s="$scanned" -v u="$asked" '/"mean":/ {
      printf "%.1f", ($2 * (u + s) - 100 * s) / u; exit }')
  [ -n "$expected" ] || die "the lab runs no $1"
}

# In the order in which they are put away: file systems, then loop devices, then the mount.
put_images_away() {
  local at
  for at in counted scan; do put_away "$scratch/$at"; done
  unmount_all
}

need fio losetup mkfs.ext4
find_memory
# In memory, as the rates are to be kept on any disk.
export FAIRDISK_SCRATCH=${FAIRDISK_SCRATCH:-/dev/shm}
start_scratch
mkdir "$scratch/disk.source"
lay_image counted 400
lay_image scan 512
put_images_away

echo "missed reads in %, through a mount of $(uname -sr) and in the lab, $seconds s each"
echo "  load    MiB   mount     lab"
off=()
for load in $loads; do
  jobs_of "$load" >"$scratch/$load.fio"
  for mib in $(sizes_of "$load"); do
    # Anew for each, so that nothing is in memory.
    mount_fairdisk disk --scheduler noop
    show_image counted
    show_image scan
    measure "$load" "$mib"
    put_images_away
    expect "$load" "$mib"
    printf '  %-7s %3d %7.1f %7.1f\n' "$load" "$mib" "$missed" "$expected"
    awk -v m="$missed" -v e="$expected" -v p="$points" 'BEGIN { exit !((m - e) ^ 2 <= p * p) }' ||
      off+=("$load with $mib MiB: $missed through the mount, $expected in the lab")
  done
done
[ ${#off[@]} -eq 0 ] || { printf 'off: %s\n' "${off[@]}"; exit 1; }
