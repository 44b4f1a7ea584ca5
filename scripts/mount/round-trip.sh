#!/usr/bin/env bash
# Is a recording replayed as it was, and does the lab predict other settings? Three groups of fio (a
# mix that thinks, a stream, a log with fsync) are recorded and laid beside their replay, on the
# device as `calibrate` measures it and as the recording refines it:
#
#   disk   a mount on the disk at hand under fair, recorded by the mount
#   loop   a loop device under BFQ, recorded under the kernel, over a mount at the pace of a model
#   what-if  recorded under noop; other schedulers, weights, limits and depths are predicted and
#          then run
#
#   scripts/mount/round-trip.sh [--short]
#
# FAIRDISK_PARTS, FAIRDISK_SECONDS, FAIRDISK_MODEL (of the loop device's disk) change what is run.
cd "$(dirname "$0")/../.." || exit 1
. scripts/mount/common.sh

seconds=60 parts="disk loop what-if" model=sata-ssd file=512M
if [ "${1:-}" = --short ]; then
  seconds=2 parts="disk what-if" file=32M
fi
parts=${FAIRDISK_PARTS:-$parts} seconds=${FAIRDISK_SECONDS:-$seconds}
model=${FAIRDISK_MODEL:-$model}
check_names parts "disk loop what-if"
check_count FAIRDISK_SECONDS "$seconds"
need fio python3
find_hierarchy
start_scratch

# The groups, their weights, and what each does to FILE.
weights="db=800 stream=100 log=200"
limits=""
db="--rw=randrw --rwmixread=70 --bs=8k --iodepth=8 --thinktime=200us"
stream="--rw=read --bs=128k --iodepth=1"
log="--rw=write --bs=4k --iodepth=1 --fsync=1 --direct=0"

# Where each does so: a file or device, and other words for fio.
declare -A target=()
# OUT RECORD-ARGS…: runs the three for a while and records them meanwhile.
record() {
  local name out=$1 of
  for of in $weights; do
    name=${of%=*}
    seconds=$((seconds + 2)) fio_in "$name" ${target[$name]} ${!name} >"$scratch/$name.out" &
  done
  sleep 1
  "$fairdisk" record "${@:2}" --for "${seconds}s" -o "$out" || die "nothing was recorded"
  wait
}

# Each has a file of its own on the mount.
lay_files() {
  local name
  for name in db stream log; do
    target[$name]=$scratch/disk/$name
    lay_file "${target[$name]}"
  done
}

groups_made() {
  local of
  for of in $weights; do group "${of%=*}"; done
}

# SCHEDULER MOUNT-OPTIONS…: mounts the disk at hand as $scratch/disk.
mount_disk() {
  local of
  unmount_all
  mount_fairdisk disk --cgroups "$controller" --scheduler "$@"
  for of in $weights; do weigh_fairdisk "${of%=*}" "${of#*=}" disk; done
  for of in $limits; do
    "$fairdisk" ctl --at "$scratch/disk" set "/$top/${of%%=*}" "${of#*=}" || die "no such limit"
  done
}

# NAME CALIBRATE-ARGS…: what the disk under NAME's recording can do, once.
calibrated() {
  [ -e "$scratch/$1.toml" ] && return
  echo "calibrating"
  "$fairdisk" calibrate "${@:2}" -q -o "$scratch/$1.toml" || die "the disk cannot be calibrated"
}

# NAME: its recording beside replays, as calibrated and as the recording refines it.
validate() {
  echo "== $1, as calibrated"
  "$fairdisk" validate "$scratch/$1.fdt" --device "$scratch/$1.toml" || failed=1
  "$fairdisk" calibrate --from "$scratch/$1.fdt" "$scratch/$1.toml" -q \
    -o "$scratch/better.toml" || failed=1
  echo "== $1, as the recording refines it"
  "$fairdisk" validate "$scratch/$1.fdt" --device "$scratch/better.toml" --no-values ||
    failed=1
}

part_disk() {
  mount_disk fair
  lay_files
  record "$scratch/disk.fdt" --at "$scratch/disk"
  calibrated disk "$scratch/disk.source" --size "$file"
  validate disk
}

part_loop() {
  local of
  unmount_all
  mount_fairdisk paced --scheduler noop --device-model "$model" --cgroups "$controller"
  fallocate -l 2G "$scratch/paced/image" || die "no room"
  loop_over "$scratch/paced/image"
  # The boost of its first ten seconds is another in each run.
  kernel_scheduler "$loop" bfq low_latency=0 || skip "no BFQ"
  # As the model says.
  echo 0 >"/sys/block/${loop#/dev/}/queue/rotational"
  for of in $weights; do weigh_bfq "${of%=*}" "${of#*=}"; done
  target=([db]=$loop [stream]="$loop --offset=512M" [log]="$loop --offset=1G")
  record "$scratch/loop.fdt" "$loop"
  kernel_scheduler "$loop" none || die "no scheduler but BFQ"
  calibrated loop "$loop" --overwrite
  validate loop
  unmount_all
}

# NAME SCHEDULER WEIGHTS MOUNT-OPTIONS -- LAB-OPTIONS: predicts, runs, and prints both. The
# prediction is for a part of the time: who is faster than in the recording comes to its end.
what_if() {
  local name=$1 scheduler=$2 in_lab=$2 of mount=() lab=()
  # Of that name the lab has the one of 2008, and mounts have their own.
  [ "$scheduler" = two-layer-cfq ] && in_lab=mount-two-layer-cfq
  weights=$3
  shift 3
  while [ "$1" != -- ]; do mount+=("$1") && shift; done
  shift
  for of in $weights; do lab+=(--weight "/$top/$of"); done
  for of in $limits; do lab+=(--limit "/$top/$of"); done
  "$fairdisk" run "$scratch/before.fdt" --device "$scratch/better.toml" --scheduler "$in_lab" \
    --seeds 1 --duration "$((seconds * 400))ms" --quiet --json "${lab[@]}" "$@" \
    >"$scratch/predicted.json" || die "$name: no prediction"
  mount_disk "$scheduler" "${mount[@]}"
  record "$scratch/after.fdt" --at "$scratch/disk" 2>/dev/null
  "$fairdisk" trace "$scratch/after.fdt" --json >"$scratch/after.json" || failed=1
  python3 - "$name" "$scratch/predicted.json" "$scratch/after.json" <<'PYTHON'
import json, sys
predicted = {g["name"]: g["ios"] for g in json.load(open(sys.argv[2]))["rows"][0]["groups"]}
# A run counts reads and writes, a trace flushes, too.
measured = {p["name"]: p["ios"] - p["flushes"] for p in json.load(open(sys.argv[3]))["parts"]}
names = [name for name in measured if name in predicted]
share = lambda of: [100 * of[name] / sum(of[n] for n in names) for name in names]
both = list(zip(names, share(predicted), share(measured)))
worst = max(abs(one - other) for _, one, other in both)
assert names, f"no group is in both: {measured} {predicted}"
cells = "  ".join(f"{name.rsplit('/', 1)[1]} {one:.1f} {other:.1f}" for name, one, other in both)
print(f"{sys.argv[1]:34} {worst:5.1f}  {cells}")
PYTHON
  [ $? -eq 0 ] || failed=1
}

part_what-if() {
  local given=$weights
  mount_disk noop
  lay_files
  record "$scratch/before.fdt" --at "$scratch/disk"
  calibrated disk "$scratch/disk.source" --size "$file"
  "$fairdisk" calibrate --from "$scratch/before.fdt" "$scratch/disk.toml" -q \
    -o "$scratch/better.toml" || die "the device cannot be refined"
  echo "== what if: recorded under noop; percent of the I/Os, predicted and measured"
  printf '%-34s %5s\n' change worst
  what_if "fair, db 800 stream 100 log 200" fair "db=800 stream=100 log=200" --
  what_if "fair, db 100 stream 800 log 200" fair "db=100 stream=800 log=200" --
  limits="stream=max_iops=1000" what_if "fair, stream at most 1000 I/Os" fair "$given" --
  what_if "bfq, db 800 stream 100 log 200" bfq "db=800 stream=100 log=200" --
  what_if "bfq, db 100 stream 800 log 200" bfq "db=100 stream=800 log=200" --
  what_if "two-layer-cfq, 800 100 200" two-layer-cfq "db=800 stream=100 log=200" --
  what_if "noop, depth 2" noop "$given" --depth 2 -- --set host.queue.depth=2
  weights=$given
}

groups_made
for part in $parts; do "part_$part"; done
exit "${failed:-0}"
