#!/usr/bin/env bash
# Test suites of others for file systems: each on a bare ext4, and on another one through a mount.
# What passes on one side alone is a difference. Fails on a difference that suites/differences.txt
# does not list, and on a listed one that is gone.
#
#   scripts/mount/suites.sh [SUITE …]
#
# A suite is used where it is installed; where it is not, a line says that it is skipped:
#
#   pjdfstest     PJDFSTEST=DIRECTORY, with the program and tests/; else its usual places
#   pjdfstest-rs  the program pjdfstest of crates.io, which is installed if cargo can
#   fsx           that of crates.io, likewise, and that of xfstests, which knows more ways to do I/O
#   stress-ng     the stressors of its class `filesystem`, and some more
#   ltp           LTPROOT=DIRECTORY, or /opt/ltp; of its programs those in suites/ltp.txt
#   xfstests      XFSTESTS=DIRECTORY, or its usual places; of its tests those in suites/xfstests.txt
#
# FAIRDISK_OUT=DIRECTORY keeps what they print. FAIRDISK_OPERATIONS is how many each run of fsx does.
cd "$(dirname "$0")/../.." || exit 1
. scripts/mount/common.sh

all="pjdfstest pjdfstest-rs fsx stress-ng ltp xfstests"
FAIRDISK_SUITES=${*:-${FAIRDISK_SUITES:-$all}}
check_names FAIRDISK_SUITES "$all"
operations=${FAIRDISK_OPERATIONS:-20000}
check_count FAIRDISK_OPERATIONS "$operations"
# What cargo installs for this script.
packages=$PWD/${CARGO_TARGET_DIR:-target}/suites
lists=$PWD/scripts/mount/suites

# FILE IN IT, directories: the first that has it, in $found.
find_in() {
  local at
  for at in "${@:2}"; do
    [ -n "$at" ] && [ -e "$at/$1" ] && found=$at && return
  done
  return 1
}

# NAME: a program of crates.io, in $found.
find_crate() {
  found=$(command -v "$1") && return
  [ -x "$packages/bin/$1" ] ||
    cargo install --quiet --locked --root "$packages" "$1" >"$out/cargo.txt" 2>&1 || return
  found=$packages/bin/$1
}

# Each suite has two functions. find_ says whether it is there, and run_ runs it in the directory $2
# of the side $1, keeps what it prints below $3 and prints for each test: its name, `pass`, `fail` or
# `none`, and how much it has checked. `none` means that it could not be run.

find_pjdfstest() {
  find_in pjdfstest "${PJDFSTEST:-}" /opt/pjdfstest /usr/local/share/pjdfstest /usr/lib/pjdfstest &&
    pjdfstest=$found
}

run_pjdfstest() {
  local file name
  for file in "$pjdfstest"/tests/*/*.t; do
    name=${file#"$pjdfstest"/tests/}
    (cd "$2" && sh "$file") >"$3/${name/\//-}" 2>&1
    awk -v name="$name" '
      /^1\.\.[0-9]/ { planned = substr($1, 4) }
      /^ok / { ok++ }
      /^not ok / { if (/# TODO/) ok++; else bad++ }
      END { print name, bad || ok < planned ? "fail" : ok ? "pass" : "none", ok + 0 }
    ' "$3/${name/\//-}"
  done
}

find_pjdfstest-rs() { find_crate pjdfstest && pjdfstest_rs=$found; }

run_pjdfstest-rs() {
  cat >"$3/config.toml" <<CONFIG
[features]
posix_fallocate = {}
rename_ctime = {}
utime_now = {}
utimensat = {}
[dummy_auth]
entries = [["nobody", "$(id -gn nobody)"], ["daemon", "daemon"]]
CONFIG
  "$pjdfstest_rs" -c "$3/config.toml" -p "$2" >"$3/out" 2>&1
  awk '/^[a-z_0-9]+::/ { print $1, $2 == "ok" ? "pass" : $2 == "skipped" ? "none" : "fail", 1 }' \
    "$3/out"
}

find_fsx() {
  find_xfstests && fsx=$xfstests/ltp/fsx || fsx=
  find_crate fsx && fsx_rs=$found || fsx_rs=
  [ -n "$fsx$fsx_rs" ]
}

# NAME, command: one run of fsx.
fsx_does() {
  if "${@:2}" >"$log/$1" 2>&1; then echo "$1 pass $operations"; else echo "$1 fail 0"; fi
}

run_fsx() {
  local name log=$3 direct="-Z -R -W -r 4096 -w 4096 -t 4096"
  # Ranges are collapsed, inserted, cloned and exchanged neither here nor there.
  local c="$fsx -q -N $operations -P $3 -C -I -J -B -0"
  local rs="$fsx_rs -q -N $operations -P $3"
  cd "$2" || return
  # shellcheck disable=SC2086 # several words
  if [ -n "$fsx" ]; then
    fsx_does buffered $c -S 1 buffered
    fsx_does reopened $c -S 2 -c 20 reopened
    fsx_does past-the-end $c -S 3 -e 1 past-the-end
    fsx_does flushed $c -S 4 -f flushed
    fsx_does direct $c -S 5 $direct direct
    fsx_does direct-aio $c -S 6 -A $direct direct-aio
    fsx_does direct-io_uring $c -S 7 -U $direct direct-io_uring
    fsx_does aio $c -S 8 -A aio
    fsx_does io_uring $c -S 9 -U io_uring
  fi
  [ -n "$fsx_rs" ] || return
  echo '[weights]' >"$log/plain.toml"
  printf '%s\n' '[weights]' 'close_open = 1' 'invalidate = 1' 'fsync = 1' 'fdatasync = 1' \
    'posix_fallocate = 5' 'punch_hole = 5' 'sendfile = 5' 'posix_fadvise = 2' \
    'copy_file_range = 5' >"$log/all.toml"
  printf '[opsize]\nalign = 4096\n[weights]\ncopy_file_range = 10\npunch_hole = 10\n' \
    >"$log/pages.toml"
  # shellcheck disable=SC2086 # several words
  for name in plain all pages; do fsx_does rs-$name $rs -S 1 -f "$log/$name.toml" rs-$name; done
}

find_stress-ng() { command -v stress-ng >/dev/null; }

run_stress-ng() {
  local name status outcome
  # Not those that need no file below the directory.
  for name in $(stress-ng --class 'filesystem?' | sed 's/.*: //; s/\<\(bind-mount\|binderfs\|eventfd\|ioprio\|procfs\|verity\)\>//g') \
    aio aiol io-uring mmap msync readahead revio seek sendfile; do
    stress-ng --temp-path "$2" --verify --timeout 3 "--$name" 1 >"$3/$name" 2>&1
    status=$?
    # 3: cannot be run here; 4: not on this machine.
    case $status in 0) outcome=pass ;; 3 | 4) outcome=none ;; *) outcome=fail ;; esac
    echo "$name $outcome 1"
  done
}

find_ltp() { find_in runtest "${LTPROOT:-}" /opt/ltp /usr/lib/ltp && ltp=$found; }

run_ltp() {
  local file name command status outcome
  chmod 1777 "$2"
  grep -v '^#' "$lists/ltp.txt" | while read -r file name; do
    command=$(awk -v name="$name" '$1 == name { $1 = ""; print; exit }' "$ltp/runtest/$file")
    [ -n "$command" ] || continue
    (cd "$2" && LTPROOT=$ltp TMPDIR=$2 PATH=$ltp/testcases/bin:$PATH \
      timeout -k 5 300 bash -c "$command") >"$3/$name" 2>&1 </dev/null
    status=$?
    case $status in 0) outcome=pass ;; 32) outcome=none ;; *) outcome=fail ;; esac
    echo "$name $outcome 1"
  done
}

find_xfstests() {
  find_in check "${XFSTESTS:-}" /opt/xfstests /var/lib/xfstests /usr/lib/xfstests \
    /usr/lib/xfstests/xfstests && xfstests=$found
}

# Programs before those of the system: a mount of Fairdisk is made as its helper does, is unmounted
# by the name of what it shows, as a device is, and its type is called `fuse`.
make_wrappers() {
  mkdir -p "$scratch/bin"
  cat >"$scratch/bin/mount" <<WRAPPER
#!/bin/bash
case " \$* " in *" -t fuse.fairdisk "*) ;; *) exec $(command -v mount) "\$@" ;; esac
args=()
while [ \$# -gt 0 ]; do
  case \$1 in -t) shift ;; *) args+=("\$1") ;; esac
  shift
done
exec -a mount.fairdisk $(realpath "$fairdisk") "\${args[@]}" </dev/null >/dev/null 2>&1
WRAPPER
  cat >"$scratch/bin/umount" <<WRAPPER
#!/bin/bash
args=()
for arg; do
  case \$arg in
    $scratch/mount.source/*)
      at=\$(findmnt -n -o TARGET -t fuse.fairdisk -S "\$arg" | head -n 1)
      args+=("\${at:-\$arg}") ;;
    *) args+=("\$arg") ;;
  esac
done
exec $(command -v umount) "\${args[@]}"
WRAPPER
  cat >"$scratch/bin/df" <<WRAPPER
#!/bin/bash
$(command -v df) "\$@" | sed 's/fuse\.fairdisk/fuse/'
WRAPPER
  chmod +x "$scratch"/bin/*
}

run_xfstests() {
  local name path=$PATH config=$3/config devices=() types=(ext4)
  mkdir -p "$scratch/test" "$scratch/second"
  if [ "$1" = bare ]; then
    for name in test second; do
      truncate -s 6G "$scratch/$name.image"
      loop_over "$scratch/$name.image"
      devices+=("$loop")
    done
    mkfs.ext4 -q -F "${devices[0]}"
  else
    devices=("$scratch"/mount.source/{test,second}) types=(fuse .fairdisk)
    mkdir -p "${devices[@]}"
    make_wrappers
    path=$scratch/bin:$PATH
  fi
  cat >"$config" <<CONFIG
export TEST_DEV=${devices[0]} TEST_DIR=$scratch/test
export SCRATCH_DEV=${devices[1]} SCRATCH_MNT=$scratch/second
export FSTYP=${types[0]} FUSE_SUBTYP=${types[1]:-} RESULT_BASE=$3/results
CONFIG
  [ "$1" = bare ] ||
    echo 'export MOUNT_OPTIONS="-o allow_other,separate" TEST_FS_MOUNT_OPTS="-o allow_other,separate"' \
      >>"$config"
  # shellcheck disable=SC2046 # several words
  (cd "$xfstests" && PATH=$path HOST_OPTIONS=$config ./check \
    $(grep -v '^#' "$lists/xfstests.txt")) >"$3/out" 2>&1 </dev/null
  awk '
    /^generic\/[0-9]+/ {
      name = $1
      outcome[name] = /\[not run\]/ ? "none" : $NF ~ /^[0-9]+s$/ ? "pass" : "fail"
    }
    END { for (name in outcome) print name, outcome[name], 1 }
  ' "$3/out"
  put_away "$scratch/test"
  put_away "$scratch/second"
}

# SUITE: says how both sides did, and what differs.
compare() {
  awk -v suite="$1" '
    FILENAME == ARGV[1] { if ($1 == suite) known[$2] = $3 " " $4; next }
    { side = FILENAME == ARGV[2] ? "bare" : "mount" }
    { is[side, $1] = $2; number[side, $2]++; checks[side] += $3; tests[$1] }
    END {
      for (test in tests) {
        now = is["bare", test] " " is["mount", test]
        if (is["bare", test] == "none" || is["bare", test] == is["mount", test]) {
          if (test in known && is["bare", test] != "none") problem = problem "  gone: " test " is " now "\n"
        } else if (known[test] == now) {
          listed++
        } else {
          problem = problem "  new: " test " is " now "\n"
        }
      }
      for (at = 1; at <= 2; at++) {
        side = at == 1 ? "bare" : "mount"
        printf "  %-13s %-6s %5d pass %4d fail %4d not run  %9d checks\n", at == 1 ? suite : "",
          side, number[side, "pass"], number[side, "fail"], number[side, "none"], checks[side]
      }
      if (listed) printf "  %-13s %d known differences\n", "", listed
      printf "%s", problem
      exit problem != ""
    }
  ' "$lists/differences.txt" "$out/$1.bare.txt" "$out/$1.mount.txt"
}

# NAME, directory: an ext4 of its own, there.
mount_disk() {
  truncate -s 16G "$scratch/$1.image"
  mkfs.ext4 -q -F "$scratch/$1.image" && mkdir -p "$2" && mount -o loop "$scratch/$1.image" "$2" ||
    die "cannot mount an ext4 at $2"
  mounts+=("$2")
  chmod 755 "$2"
}

need losetup mkfs.ext4 findmnt
start_scratch
out=${FAIRDISK_OUT:-$scratch/out}
mkdir -p "$out" && out=$(realpath "$out") || exit 1
mount_disk bare "$scratch/bare"
mount_disk disk "$scratch/mount.source"
mount_fairdisk mount --scheduler fair

failed=0 absent=0
echo "Suites on $(uname -sr): outcomes on an ext4 and through a mount of another"
for suite in $FAIRDISK_SUITES; do
  if ! "find_$suite"; then
    echo "skipped: $suite is not installed (how it is found: scripts/mount/suites.sh)"
    absent=$((absent + 1))
    continue
  fi
  for side in bare mount; do
    mkdir -p "$scratch/$side/$suite" "$out/$suite.$side"
    chmod 755 "$scratch/$side/$suite"
    "run_$suite" $side "$scratch/$side/$suite" "$out/$suite.$side" >"$out/$suite.$side.txt"
  done
  compare "$suite" || failed=1
done
if [ "${CI:-}" = true ] && [ $absent -gt 0 ]; then failed=1; fi
exit $failed
