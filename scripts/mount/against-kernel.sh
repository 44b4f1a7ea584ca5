#!/usr/bin/env bash
# Two fio jobs in groups of weight 100 and 800: through `fairdisk mount`, and on a loop device over
# the same modelled disk under the kernel's own schedulers. Shares and latencies side by side,
# counted from fio's log of single I/Os in the same span of time, while both were running. What
# Fairdisk shares is the disk's time: where requests of a deep queue cost less than those of a short
# one, as on wd2500js, the shares of I/Os differ from it, so the light group's share of the time is
# told, too, from the mount's own accounts of the whole run.
#
#   scripts/mount/against-kernel.sh [--short]
#
# FAIRDISK_MODELS, FAIRDISK_SECONDS, FAIRDISK_DEPTHS ("light:heavy …") and FAIRDISK_ARMS change
# what is run. It fails if Fairdisk misses what it promises, not if the kernel does.
cd "$(dirname "$0")/../.." || exit 1
. scripts/mount/common.sh

models="fixed-8ms wd2500js" seconds=30 depths="1:1 8:8 64:64 1:64 64:1" points=1
arms="fairdisk bfq bfq-strict mq-deadline none"
if [ "${1:-}" = --short ]; then
  # Too few turns for one point.
  models=fixed-8ms seconds=4 depths=8:8 arms="fairdisk bfq" points=5
fi
models=${FAIRDISK_MODELS:-$models} seconds=${FAIRDISK_SECONDS:-$seconds}
check_names FAIRDISK_ARMS "fairdisk bfq bfq-strict mq-deadline none"
depths=${FAIRDISK_DEPTHS:-$depths} arms=${FAIRDISK_ARMS:-$arms}
# Seconds of both jobs that do not count, at the beginning.
lead=1
weights=(100 800)
ideal=$(awk -v l=${weights[0]} -v h=${weights[1]} 'BEGIN { printf "%.1f", 100 * l / (l + h) }')

# GROUP, DEPTH, FILE, OFFSET: becomes fio.
job() {
  become "$1" fio --name="$1" --filename="$3" --offset="$4" --size=512M --bs=4k --rw=randread \
    --direct=1 --ioengine=libaio --iodepth="$2" --time_based --runtime=$((seconds + 3 * lead)) \
    --write_lat_log="$scratch/$1" --log_unix_epoch=1 --output="$scratch/$1.out"
}

# Milliseconds of the disk that a group has had through the mount.
device_time() {
  "$fairdisk" ctl --at "$scratch/disk" list --json | awk -F '[:,]' -v group="\"/$top/$1\"" '
    /"device_time_ms"/ { time = $2 }
    /"name"/ { gsub(/ /, "", $2); if ($2 == group) found = time }
    END { print found + 0 }'
}

# FILE, DEPTHS: runs both; light's share, p50, p99, heavy's, I/Os per second in $measured.
measure() {
  local before after
  rm -f "$scratch"/*.log
  job light "${2%:*}" "$1" 0 &
  job heavy "${2#*:}" "$1" 512M &
  # What is queued at the end is served when one of them asks for no more: that does not count.
  sleep $((2 * lead))
  before="$(device_time light) $(device_time heavy)"
  sleep "$seconds"
  after="$(device_time light) $(device_time heavy)"
  wait
  time=$(awk '{ l = $3 - $1; h = $4 - $2; printf "%.1f", l + h ? 100 * l / (l + h) : 0 }' \
    <<<"$before $after")
  measured=$(awk -F ', ' -v lead=$lead -v seconds="$seconds" -f scripts/mount/shares.awk \
    <(by_latency light) <(by_latency heavy))
  [ -n "$measured" ] || { cat "$scratch"/*.out >&2; die "fio measured nothing"; }
}
by_latency() { sort -t, -k2,2n "$scratch/$1_clat.1.log"; }

# ARM, DEPTHS: a line of the table.
line() {
  local share p50 p99 share2 p502 p992 iops
  [ "$1" = fairdisk ] || time=-
  read -r share p50 p99 share2 p502 p992 iops <<<"$measured"
  awk -v a="$1" -v d="$2" -v s="$share" -v s2="$share2" -v p="$p50" -v q="$p99" -v p2="$p502" \
    -v q2="$p992" -v i="$iops" -v t="$time" -v ideal="$ideal" 'BEGIN {
      printf "  %-12s %6s   %5.1f : %-5.1f %+6.1f %6s %8d %7d %8d %7d %6d\n",
        a, d, s, s2, s - ideal, t, p, q, p2, q2, i }'
  [ "$1" = fairdisk ] || return 0
  case $model in fixed*) ;; *) share=$time ;; esac
  if awk -v s="$share" -v i="$ideal" -v p=$points 'BEGIN { d = s - i; exit d * d <= p * p }'; then
    missed+=("$model $2: the light group got $share %, more than $points points from $ideal")
  fi
  # With more than one in flight its own queue is what it waits for.
  if [ "${2%:*}" = 1 ] && [ "$p99" -ge 1000 ]; then
    missed+=("$model $2: the light group's 99th percentile is $p99 ms")
  fi
}

# MODEL, ARM
measure_arm() {
  local depth file=$scratch/disk/image
  if [ "$2" = fairdisk ]; then
    mount_fairdisk disk --device-model "$1" --cgroups "$controller"
    weigh_fairdisk light "${weights[0]}" disk
    weigh_fairdisk heavy "${weights[1]}" disk
  else
    mount_fairdisk disk --device-model "$1" --scheduler noop
    loop_over "$file"
    file=$loop
    under_kernel "$2" || { echo "  $2: this kernel has no such scheduler"; unmount_all; return; }
  fi
  for depth in $depths; do
    measure "$file" "$depth"
    line "$2" "$depth"
  done
  unmount_all
}

under_kernel() {
  case $1 in
    bfq) kernel_scheduler "$loop" bfq ;;
    # What is said to serve weights best: no boost for what it takes for interactive.
    bfq-strict) kernel_scheduler "$loop" bfq low_latency=0 strict_guarantees=1 ;;
    *) kernel_scheduler "$loop" "$1"; return ;;
  esac || return
  weigh_bfq light "${weights[0]}"
  weigh_bfq heavy "${weights[1]}"
}

need fio losetup
find_hierarchy
start_scratch
group light
group heavy
mkdir "$scratch/disk.source"
fallocate -l 1G "$scratch/disk.source/image" || die "no room for 1 GiB in $scratch"

echo "two groups of weight ${weights[0]} and ${weights[1]}, random 4 KiB direct reads," \
  "$seconds s each; ideal $ideal : $(awk -v i="$ideal" 'BEGIN { print 100 - i }')"
missed=()
for model in $models; do
  echo
  echo "on $model"
  echo "  scheduler     depth   share of I/Os   error time % light p50/p99 ms heavy p50/p99 ms   IO/s"
  for arm in $arms; do measure_arm "$model" "$arm"; done
done
[ ${#missed[@]} -eq 0 ] || { printf 'missed: %s\n' "${missed[@]}"; exit 1; }
