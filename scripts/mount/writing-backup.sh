#!/usr/bin/env bash
# A database beside backups that write to its disk: what pgbench keeps, and how long its commits take,
# while pg_dump, pg_basebackup or an archive of the log write in a group of an eighth of its weight.
#
#   scripts/mount/writing-backup.sh [--short]
#
# FAIRDISK_MODEL (a disk of the catalogue, or `none`: the one at hand), FAIRDISK_SECONDS,
# FAIRDISK_SCALE (of pgbench: 15 MB each), FAIRDISK_ROUNDS and FAIRDISK_CEILING of the backup in bytes
# a second change what is run. Arms have their turns in each round, and medians are told.
cd "$(dirname "$0")/../.." || exit 1
. scripts/mount/common.sh
. scripts/mount/postgres.sh

model=none seconds=10 scale=30 rounds=3 arms="noop fair fair+ceiling" kinds="dump base archive"
if [ "${1:-}" = --short ]; then
  seconds=2 scale=2 rounds=1 arms=fair+ceiling
fi
model=${FAIRDISK_MODEL:-$model} seconds=${FAIRDISK_SECONDS:-$seconds}
scale=${FAIRDISK_SCALE:-$scale} rounds=${FAIRDISK_ROUNDS:-$rounds} ceiling=${FAIRDISK_CEILING:-20M}

# KIND: writes such backups, one after the other, until it is ended.
back_up() {
  local again
  case $1 in
    dump) again="pg_dump -h $scratch/run -U bench -f $at/backup/dump postgres" ;;
    base) again="rm -rf $at/backup/base && pg_basebackup -c fast -h $scratch/run -U bench -D $at/backup/base" ;;
    # Who archives is a child of the server: the script goes to the group of the backup by itself.
    archive) again="sleep 1" && touch "$scratch/run/archives" ;;
  esac
  become backup setsid "${as_nobody[@]}" HOME="$scratch" bash -c "while $again; do :; done" \
    2>>"$scratch/run/backup.err"
}

# The script that archives a segment of the log, durably, while $scratch/run/archives is there.
write_archiver() {
  cat >"$scratch/run/archive" <<ARCHIVER
#!/bin/sh
[ -e $scratch/run/archives ] || exit 0
echo \$\$ >$hierarchy/$top/backup/cgroup.procs || exit 1
cp "\$1" $scratch/disk/backup/wal.\$2 && sync $scratch/disk/backup/wal.\$2
ARCHIVER
  chmod 755 "$scratch/run/archive"
  chown $user "$hierarchy/$top/cgroup.procs" "$hierarchy/$top"/{database,backup}/cgroup.procs
}

# GROUP, KEY: a figure of a group since the mark, from JSON.
since() {
  "$fairdisk" ctl --at "$at" list --since writing-backup --json |
    python3 -c 'import json, sys
groups = {group["name"]: group for group in json.load(sys.stdin)["groups"]}
group = groups.get(sys.argv[1], {})
fsync = group.get("ops", {}).get("fsync", {}).get("p99") or 0
print({"fsync": fsync, "written": group.get("mb_per_s", 0)}[sys.argv[2]])' "/$top/$1" "$2"
}

# What pgbench does without a backup, in $tps.
alone() {
  settle
  bench
}

# KIND: what pgbench does beside it, in $tps, its fsync p99 in ms and what the backup wrote in MB/s.
beside() {
  local process
  settle
  "$fairdisk" ctl --at "$at" mark writing-backup || exit 1
  back_up "$1" &
  process=$!
  bench
  fsync=$(since database fsync) written=$(since backup written)
  rm -f "$scratch/run/archives"
  kill -- -$process 2>/dev/null || { tail -n 3 "$scratch/run/backup.err" >&2; die "no $1"; }
  wait $process 2>/dev/null
  rm -rf "$at"/backup/*
}

measure() { # ARM
  local before kind line lines=() options=(--cgroups "$controller" --scheduler "${1%+*}")
  [ "$model" = none ] || options+=(--device-model "$model")
  mount_fairdisk disk "${options[@]}"
  at=$scratch/disk
  if [ "$1" != noop ]; then
    weigh_fairdisk database 800 disk
    weigh_fairdisk backup 100 disk
  fi
  [ "$1" != fair+ceiling ] ||
    "$fairdisk" ctl --at "$at" set "/$top/backup" "max_write_bps=$ceiling" || exit 1
  start_database "$at"
  # The first run finds nothing in memory.
  alone
  alone
  before=$tps
  for kind in $kinds; do
    beside "$kind"
    lines+=("$kind $tps $fsync $written")
  done
  # Alone before and after: a database grows faster as more of it is in memory.
  alone
  for line in "${lines[@]}"; do
    echo "$1 $(mean "$before" "$tps") $line" >>"$scratch/measured"
  done
  stop_database
  unmount_all
}

need python3
start_postgres
group backup
write_archiver
mkdir -p "$scratch/disk.source"
install -d -o $user "$scratch/disk.source/backup"
make_database "$scratch/disk.source" "archive_mode = on
archive_command = '$scratch/run/archive %p %f'"
for ((round = 0; round < rounds; round++)); do
  for arm in $arms; do measure "$arm"; done
done

where="on $model"
[ "$model" != none ] || where="on the disk at hand"
echo "pgbench ($clients clients, scale $scale) in a group of weight 800, backups in one of 100," \
  "$seconds s each, $rounds rounds, $where; ceiling $ceiling"
echo "                           transactions per second            fsync p99     backup"
echo "  scheduler     backup        alone     beside   kept %            ms   MB/s done"
for arm in $arms; do
  for kind in $kinds; do
    for column in 2 4 5 6; do
      awk -v a="$arm" -v k="$kind" -v c=$column '$1 == a && $3 == k { print $c }' "$scratch/measured" |
        sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
    done | paste -s -d ' ' | awk -v a="$arm" -v k="$kind" \
      '{ printf "  %-13s %-8s %10.1f %10.1f %8.1f %13.2f %11.1f\n", a, k, $1, $2, 100 * $2 / $1, $3, $4 }'
  done
done
