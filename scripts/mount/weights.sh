#!/usr/bin/env bash
# Two groups of weight 700 and 100 that do the same on the disk as it is, random reads of 4 KiB,
# with so many in flight each: who gets what through `fairdisk mount`, without costs and, as
# `fair+costs`, with those that `fairdisk calibrate` finds. A group cannot get more than it does by
# itself, which is shown beside.
#
#   scripts/mount/weights.sh [--short]
#
# FAIRDISK_SECONDS, FAIRDISK_ROUNDS and FAIRDISK_SCHEDULERS change how long, how often and under
# what. It fails if `fair`, with the most in flight, is further than 10 points from the weights.
cd "$(dirname "$0")/../.." || exit 1
. scripts/mount/common.sh

seconds=5 rounds=3 file=1G depths=(8 16 32 64) schedulers=(fair fair+costs two-layer-cfq bfq noop) least=77.5
# Too short to compare closely.
[ "${1:-}" = --short ] && seconds=1 rounds=1 depths=(64) schedulers=(fair) least=60
seconds=${FAIRDISK_SECONDS:-$seconds} rounds=${FAIRDISK_ROUNDS:-$rounds}
check_count FAIRDISK_SECONDS "$seconds"
check_count FAIRDISK_ROUNDS "$rounds"
check_names FAIRDISK_SCHEDULERS "${schedulers[*]}"
read -ra schedulers <<<"${FAIRDISK_SCHEDULERS:-${schedulers[*]}}"

# GROUP DEPTH: I/Os per second, and the 99th percentile of their latency in ms.
rate() {
  fio_in "$1" "$scratch/disk/data" --rw=randread --bs=4k --iodepth="$2" --ramp_time=1 \
    --percentile_list=99 |
    awk -F ';' '{ split($18, p99, "="); print $8, p99[2] / 1000 }' >"$scratch/$1.rate"
}

# SCHEDULER DEPTH: a line of what each group has beside the other, and the heavy one by itself.
measure() {
  local options=()
  [ "$1" = fair+costs ] && options=(--costs "$scratch/costs.toml")
  mount_fairdisk disk --cgroups "$controller" --scheduler "${1%+costs}" "${options[@]}"
  [ "$1" = noop ] || { weigh_fairdisk heavy 700 disk; weigh_fairdisk light 100 disk; }
  rate heavy "$2"
  read -r alone _ <"$scratch/heavy.rate"
  rate heavy "$2" &
  local first=$!
  rate light "$2" &
  wait $first $!
  echo "$(cat "$scratch/heavy.rate" "$scratch/light.rate" | xargs) $alone" >>"$scratch/rates"
  unmount_all
}

# Means of all rounds.
summed() {
  awk '$1 + $3 { part += 100 * $1 / ($1 + $3); sum += $1 + $3; alone += $5; h += $2; l += $4; n++ }
    END { if (!n) exit 1; printf "%.1f %.0f %.0f %.1f %.1f", part / n, sum / n, alone / n, h / n, l / n }' \
    "$scratch/rates"
}

need fio
find_hierarchy
start_scratch
group heavy
group light
mkdir "$scratch/disk.source"
lay_file "$scratch/disk.source/data"
case " ${schedulers[*]} " in *" fair+costs "*)
  "$fairdisk" calibrate "$scratch" --size "$file" --quiet --output "$scratch/costs.toml" ||
    die "the disk cannot be calibrated"
  ;;
esac
echo "weights 700 and 100, $seconds s, $rounds rounds: of all I/Os the heavy group asks for 87.5 %"
echo "  in flight  scheduler        gets %  I/Os/s  heavy alone  p99 ms, heavy  light"
for depth in "${depths[@]}"; do
  for scheduler in "${schedulers[@]}"; do
    rm -f "$scratch/rates"
    for ((round = 0; round < rounds; round++)); do measure "$scheduler" "$depth"; done
    result=$(summed) || { cat "$scratch"/*.err >&2; die "fio measured nothing"; }
    read -r part sum alone heavy light <<<"$result"
    printf '  %9s  %-15s %7s %7s %12s %14s %6s\n' "$depth" "$scheduler" "$part" "$sum" "$alone" \
      "$heavy" "$light"
    [ "$scheduler" = fair ] && last=$part
  done
done
awk -v p="${last:-100}" -v l="$least" 'BEGIN { exit p < l }' ||
  die "fair with $depth in flight gave $last %, less than $least"
