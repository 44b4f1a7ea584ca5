#!/usr/bin/env bash
# Two groups of equal weight on the disk as it is, through `fairdisk mount` with the costs that
# `fairdisk calibrate` finds and without. How fast each group is, compared with what it does there
# by itself: with equal weights each is slowed down alike if it gets half of the disk.
#
#   scripts/mount/calibrated.sh [--short]
#
# FAIRDISK_SECONDS and FAIRDISK_ROUNDS change how long and how often. It fails if the mean distance
# from equal parts is larger with costs than without.
cd "$(dirname "$0")/../.." || exit 1
. scripts/mount/common.sh

seconds=8 rounds=3 size=4G file=1G time=1s slack=1
# Too short to compare closely.
[ "${1:-}" = --short ] && seconds=1 rounds=1 size=256M file=128M time=50ms slack=10
seconds=${FAIRDISK_SECONDS:-$seconds} rounds=${FAIRDISK_ROUNDS:-$rounds}
check_count FAIRDISK_SECONDS "$seconds"
check_count FAIRDISK_ROUNDS "$rounds"

# What one group does, and what the other does.
loads=(
  "randread 4k 8|randread 256k 8"
  "read 4k 16|randread 64k 16"
  "randread 4k 16|randwrite 4k 16"
  "randread 16k 8|write 128k 8"
)

[ "${1:-}" = --short ] && loads=("${loads[@]:0:2}")

# GROUP, "HOW BYTES DEPTH": I/Os per second.
rate() {
  local how bytes depth
  read -r how bytes depth <<<"$2"
  fio_in "$1" "$scratch/disk/$1" --rw="$how" --bs="$bytes" --iodepth="$depth" |
    awk -F ';' '{ print $8 + $49 }' >"$scratch/$1.rate"
}

# LOADS, options: a line of rates: one alone, other alone, one beside, other beside.
measure() {
  local one=${1%|*} other=${1#*|} line
  mount_fairdisk disk --cgroups "$controller" "${@:2}"
  rate one "$one"
  rate other "$other"
  line="$(cat "$scratch/one.rate" "$scratch/other.rate" | xargs)"
  rate one "$one" &
  local first=$!
  rate other "$other" &
  wait $first $!
  echo "$line $(cat "$scratch/one.rate" "$scratch/other.rate" | xargs)" >>"$scratch/rates"
  unmount_all
}

# Means of all rounds: what is left of each group's rate, and the distance from equal parts.
summed() {
  awk '$1 && $2 && $3 + $4 { a += $3 / $1; b += $4 / $2; n++ }
    END { if (!n) exit 1; d = 100 * a / (a + b) - 50; printf "%.2f %.2f %.1f", a / n, b / n, d }' \
    "$scratch/rates"
}

need fio
find_hierarchy
start_scratch
group one
group other
mkdir "$scratch/disk.source"
lay_file "$scratch/disk.source/one"
lay_file "$scratch/disk.source/other"
"$fairdisk" calibrate "$scratch" --size "$size" --time "$time" --quiet \
  --output "$scratch/costs.toml" || die "the disk cannot be calibrated"
sed '/^#/d; /^$/d; /^id\|^title\|^kind/d' "$scratch/costs.toml"
echo
echo "equal weights, $seconds s, $rounds rounds: what is left of the rate of each by itself"
echo "  one             other             costs      one  other  points from equal parts"
for load in "${loads[@]}"; do
  for costs in unknown known; do
    options=()
    [ $costs = known ] && options=(--costs "$scratch/costs.toml")
    rm -f "$scratch/rates"
    for ((round = 0; round < rounds; round++)); do measure "$load" "${options[@]}"; done
    result=$(summed) || { cat "$scratch"/*.err >&2; die "fio measured nothing"; }
    read -r one other points <<<"$result"
    printf '  %-15s %-17s %-8s %5.2f %6.2f %+6.1f\n' "${load%|*}" "${load#*|}" "$costs" \
      "$one" "$other" "$points"
    echo "$costs ${points#-}" >>"$scratch/points"
  done
done
read -r unknown known < <(awk '{ all[$1] += $2; n[$1]++ }
  END { printf "%.1f %.1f\n", all["unknown"] / n["unknown"], all["known"] / n["known"] }' \
  "$scratch/points")
echo "  on average $unknown points without costs, $known with them"
awk -v u="$unknown" -v k="$known" -v s="$slack" 'BEGIN { exit k > u + s }' ||
  die "with costs the groups are further from equal parts than without"
