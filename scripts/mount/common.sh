#!/usr/bin/env bash
# Meant to be sourced: a scratch directory, mounts, loop devices and groups that all go when the
# script ends. Groups are cgroups of the `blkio` hierarchy, or of version 2 where there is none, so
# that Fairdisk and the kernel's BFQ see the same ones.
set -uo pipefail

fairdisk=${FAIRDISK:-${CARGO_TARGET_DIR:-target}/release/fairdisk}
scratch=
mounts=() loops=() groups=()

# A part of what follows is missing: says so and ends well, or badly where nothing may be missing.
skip() {
  echo "skipped: $*"
  [ "${CI:-}" = true ] && exit 1
  exit 0
}

die() {
  echo "error: $*" >&2
  exit 1
}

# VARIABLE KNOWN: every word in the variable, if it is set, is one of KNOWN.
check_names() {
  local name
  for name in ${!1:-}; do
    case " $2 " in *" $name "*) ;; *) die "$1: no \"$name\"; known: $2" ;; esac
  done
}

# NAME VALUE: it is a number that something can be done so often.
check_count() {
  [[ $2 =~ ^[1-9][0-9]{0,8}$ ]] || die "$1: \"$2\" is no whole number from 1 on"
}

# Programs without which there is nothing to measure.
need() {
  local program
  [ "$(id -u)" -eq 0 ] || skip "not root"
  [ -e /dev/fuse ] || skip "no /dev/fuse"
  for program in "$@"; do
    command -v "$program" >/dev/null || skip "no $program (scripts/setup.sh installs it)"
  done
  [ -x "$fairdisk" ] || die "$fairdisk is not there (cargo build --release -p fairdisk)"
}

# Where the cgroups are made, and which file has BFQ's weight.
find_hierarchy() {
  hierarchy=$(awk '/ - cgroup .*[ ,]blkio(,|$)/ { print $5; exit }' /proc/self/mountinfo)
  controller=blkio weight_file=blkio.bfq.weight
  [ -n "$hierarchy" ] && return
  hierarchy=$(awk '/ - cgroup2 / { print $5; exit }' /proc/self/mountinfo)
  [ -n "$hierarchy" ] || skip "no cgroup hierarchy is mounted"
  controller=v2 weight_file=io.bfq.weight
  echo +io >"$hierarchy/cgroup.subtree_control" 2>/dev/null
}

# On a disk that holds data and takes direct I/O: not in memory.
start_scratch() {
  scratch=$(mktemp -d -p "${FAIRDISK_SCRATCH:-/var/tmp}" fairdisk.XXXXXX) || exit 1
  chmod 755 "$scratch"
  trap clean_up EXIT
  trap 'exit 130' INT TERM
}

clean_up() {
  local at
  jobs -p | xargs -r kill 2>/dev/null
  wait
  unmount_all
  for at in "${groups[@]}"; do
    for _ in {1..50}; do rmdir "$at" 2>/dev/null && break || sleep 0.1; done
  done
  rm -rf "$scratch"
}

# Loop devices first, then what was mounted last.
unmount_all() {
  local at
  for at in "${loops[@]}"; do losetup -d "$at"; done
  for ((at = ${#mounts[@]} - 1; at >= 0; at--)); do put_away "${mounts[at]}"; done
  loops=() mounts=()
}

# A loop device lets go of its file a moment after it is gone.
put_away() {
  for _ in {1..50}; do
    mountpoint -q "$1" || return 0
    umount "$1" 2>/dev/null && return 0
    sleep 0.1
  done
  umount -l "$1"
}

# NAME, options: $scratch/NAME shows $scratch/NAME.source through fairdisk.
mount_fairdisk() {
  local name=$1 separate=--separate
  # A scheduler of its own: others may have mounts on this disk, with other settings.
  case " $* " in *" --unscheduled "*) separate= ;; esac
  mkdir -p "$scratch/$name.source" "$scratch/$name"
  "$fairdisk" mount "$scratch/$name.source" "$scratch/$name" --allow-other $separate \
    --log-file "$scratch/$name.log" "${@:2}" >/dev/null ||
    die "fairdisk mount ${*:2} failed"
  mounts+=("$scratch/$name")
}

# FILE: a loop device over it, past the page cache; its name in $loop.
loop_over() {
  loop=$(losetup --find --show --direct-io=on "$1") || die "no loop device over $1"
  loops+=("$loop")
}

# DEVICE, SCHEDULER, settings: the kernel's scheduler for it, as a rotating disk.
kernel_scheduler() {
  local queue=/sys/block/${1#/dev/}/queue setting
  echo 1 >"$queue/rotational"
  modprobe -q "$2" 2>/dev/null
  echo "$2" 2>/dev/null >"$queue/scheduler" || return 1
  for setting in "${@:3}"; do
    echo "${setting#*=}" >"$queue/iosched/${setting%=*}" || return 1
  done
}

# NAME: a cgroup; its directory is $hierarchy/$top/NAME.
group() {
  if [ -z "${top:-}" ]; then
    top=fairdisk-$$
    mkdir "$hierarchy/$top" || die "cannot make a cgroup below $hierarchy"
    groups=("$hierarchy/$top")
    [ "$controller" = v2 ] && echo +io >"$hierarchy/$top/cgroup.subtree_control" 2>/dev/null
  fi
  mkdir -p "$hierarchy/$top/$1"
  groups=("$hierarchy/$top/$1" "${groups[@]}")
}

# NAME, WEIGHT at a mount NAME: what Fairdisk is told.
weigh_fairdisk() { "$fairdisk" ctl --at "$scratch/$3" set "/$top/$1" "weight=$2" || exit 1; }

# NAME, WEIGHT: what BFQ is told, once it is some device's scheduler.
weigh_bfq() { echo "$2" >"$hierarchy/$top/$1/$weight_file" || die "BFQ takes no weights here"; }

# NAME, command: becomes that command, in that group; for ( … ) and { … } &.
become() {
  echo "$BASHPID" >"$hierarchy/$top/$1/cgroup.procs" || exit 1
  exec "${@:2}"
}

# NAME, command: runs in that group.
in_group() { (become "$@"); }

# FILE: makes it, $file long, past the page cache.
lay_file() {
  fio --minimal --name=lay --filename="$1" --size="$file" --rw=write --bs=1M --direct=1 \
    --end_fsync=1 >"$scratch/lay.out" 2>&1 ||
    skip "no direct I/O in $scratch: $(tail -n 1 "$scratch/lay.out")"
}

# GROUP, FILE, options: fio in that group for $seconds, its result in fields.
fio_in() {
  in_group "$1" fio --minimal --name="$1" --filename="$2" --size="$file" --direct=1 \
    --ioengine=libaio --time_based --runtime="$seconds" "${@:3}" 2>"$scratch/$1.err"
}
