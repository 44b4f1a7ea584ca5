#!/usr/bin/env bash
# A database and a backup on one modelled disk: what pgbench keeps of the throughput it has alone
# while tar reads files in a group of an eighth of its weight. Through `fairdisk mount`, through it
# without a policy, and on a loop device over the same modelled disk under the kernel's schedulers.
#
#   scripts/mount/database.sh [--short]
#
# FAIRDISK_MODEL, FAIRDISK_SECONDS, FAIRDISK_ARMS, FAIRDISK_SCALE (of pgbench: 15 MB each) and
# FAIRDISK_BACKUP_MIB change what is run. It fails if Fairdisk keeps less than it promises.
cd "$(dirname "$0")/../.." || exit 1
. scripts/mount/common.sh
. scripts/mount/postgres.sh

model=wd2500js seconds=30 scale=50 backup_mib=4096 keeps=80
arms="fairdisk two-layer noop bfq mq-deadline"
if [ "${1:-}" = --short ]; then
  # Few transactions: only roughly so much.
  seconds=4 scale=10 backup_mib=512 arms=fairdisk keeps=50
fi
model=${FAIRDISK_MODEL:-$model} seconds=${FAIRDISK_SECONDS:-$seconds}
check_names FAIRDISK_ARMS "fairdisk two-layer noop bfq mq-deadline none"
arms=${FAIRDISK_ARMS:-$arms} scale=${FAIRDISK_SCALE:-$scale}
backup_mib=${FAIRDISK_BACKUP_MIB:-$backup_mib}
weights=(800 100)

# DIRECTORY: a database and files to back up, made where the disk is not yet slow.
fill() {
  make_database "$1"
  install -d -o $user "$1/files"
  local at
  for ((at = 0; at < backup_mib / 64; at++)); do
    head -c 64M /dev/zero >"$1/files/$at"
  done
  sync -f "$1"
}

# DIRECTORY: reads all files as a backup does, until the bench is over; MB/s in $read.
bench_beside_backup() {
  rm -f "$scratch/run/read"
  { become backup tar -C "$1" -cf - files; } > >(wc -c >"$scratch/run/read") &
  local tar=$!
  bench
  kill $tar 2>/dev/null || die "the backup was done before pgbench: set FAIRDISK_BACKUP_MIB higher"
  wait $tar 2>/dev/null
  # Who counts is done a moment later.
  for _ in {1..100}; do [ -s "$scratch/run/read" ] && break; sleep 0.05; done
  read=$(awk -v s="$seconds" '{ printf "%.1f", $1 / s / 1e6 }' "$scratch/run/read")
}

# ARM: mounts a disk; where its files are in $at.
mount_arm() {
  at=$scratch/disk/tree
  case $1 in
    fairdisk | two-layer)
      local scheduler=fair
      [ "$1" = fairdisk ] || scheduler=two-layer-cfq
      mount_fairdisk disk --device-model "$model" --cgroups "$controller" --scheduler $scheduler
      weigh_fairdisk database "${weights[0]}" disk
      weigh_fairdisk backup "${weights[1]}" disk
      return ;;
    noop) mount_fairdisk disk --device-model "$model" --scheduler noop; return ;;
  esac
  mount_fairdisk disk --device-model "$model" --scheduler noop
  loop_over "$scratch/disk/image"
  kernel_scheduler "$loop" "$1" || return
  if [ "$1" = bfq ]; then
    weigh_bfq database "${weights[0]}"
    weigh_bfq backup "${weights[1]}"
  fi
  at=$scratch/image
  mount "$loop" "$at" || die "cannot mount $loop"
  mounts+=("$at")
}

# An ext4 with the same database and files, for the loop devices; made at full speed.
fill_image() {
  mkdir -p "$scratch/image"
  truncate -s $((scale * 40 + backup_mib + 2048))M "$scratch/disk.source/image"
  mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "$scratch/disk.source/image"
  mount -o loop "$scratch/disk.source/image" "$scratch/image" || die "cannot mount the image"
  mounts+=("$scratch/image")
  cp -a "$scratch/disk.source/tree/." "$scratch/image" || die "no room in the image"
  unmount_all
}

measure() {
  local alone latency_alone beside latency_beside kept
  mount_arm "$1" || { echo "  $1: this kernel has no such scheduler"; unmount_all; return; }
  start_database "$at"
  settle
  bench
  alone=$tps latency_alone=$latency
  settle
  bench_beside_backup "$at"
  beside=$tps latency_beside=$latency
  # Alone before and after: a database grows faster as more of it is in memory.
  settle
  bench
  alone=$(mean "$alone" "$tps") latency_alone=$(mean "$latency_alone" "$latency")
  stop_database
  unmount_all
  kept=$(awk -v a="$alone" -v b="$beside" 'BEGIN { printf "%.1f", 100 * b / a }')
  printf '  %-12s %10.1f %10.1f %8.1f %12.1f %12.1f %10s\n' \
    "$1" "$alone" "$beside" "$kept" "$latency_alone" "$latency_beside" "$read"
  if [ "$1" = fairdisk ] && awk -v k="$kept" -v w=$keeps 'BEGIN { exit k >= w }'; then
    echo "missed: pgbench keeps $kept % of its throughput, less than $keeps %"
    failed=1
  fi
}

need tar losetup
failed=0
start_postgres
group backup
mkdir -p "$scratch/disk.source/tree"
fill "$scratch/disk.source/tree"
case $arms in *bfq* | *deadline* | *none*) fill_image ;; esac

echo "pgbench ($clients clients, scale $scale) in a group of weight ${weights[0]}, tar in one of" \
  "${weights[1]}, $seconds s each, on $model"
echo "                transactions per second          mean latency, ms        backup"
echo "  scheduler         alone     beside  kept %       alone       beside       MB/s"
for arm in $arms; do measure "$arm"; done
exit $failed
