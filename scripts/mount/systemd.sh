#!/usr/bin/env bash
# Mounts under systemd: the unit `fairdisk@.service`, installed with DESTDIR, started, used, stopped,
# killed, and stopped while its disk hangs; and lines of fstab, stopped one by one, and killed with all
# of a unit's processes while the disk hangs.
# systemd runs as the first process of a container: namespaces, an overlay of /, cgroups of its own.
# FAIRDISK is the program.
set -euo pipefail

program=$(realpath "${FAIRDISK:?the program}")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
systemd=/lib/systemd/systemd
groups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
for needed in $systemd /dev/fuse /dev/loop-control "$groups"; do
  if ! [ -e "$needed" ]; then
    echo "skipped: no ${needed:-cgroup2}"
    exit 0
  fi
done

place=$(mktemp -d)
group=$groups/fairdisk-systemd-$$
ended() {
  # What is mounted there went with the namespace.
  find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || :
  umount "$place"
  rmdir "$place"
}
mount -t tmpfs -o mode=755 container "$place"
trap ended EXIT
mkdir "$group" "$place"/{upper,work,root,out}

# What the container has beside what is there: the program, a mount, and who uses it.
DESTDIR=$place/upper FAIRDISK_PROGRAM=$program scripts/install.sh >/dev/null
units=$place/upper/etc/systemd/system
mkdir -p "$units" "$place/upper/etc/fairdisk" "$place/upper/var/lib/fairdisk-test"/{source,mount}
cat >"$place/upper/etc/fairdisk/test.conf" <<END
SOURCE=/var/lib/fairdisk-test/source
MOUNTPOINT=/var/lib/fairdisk-test/mount
OPTIONS=--allow-other --scheduler fair
END
cat >"$units/user.service" <<END
[Unit]
DefaultDependencies=no
FailureAction=exit-force
SuccessAction=exit-force
[Service]
Type=oneshot
StandardOutput=file:/out/said
StandardError=file:/out/said
ExecStart=/bin/bash -eux /out/use.sh
TimeoutStartSec=120
END
# One whose disk hangs when it is stopped, for which systemd has less patience here.
cat >"$place/upper/etc/fairdisk/hangs.conf" <<END
SOURCE=/var/lib/fairdisk-test/disk
MOUNTPOINT=/var/lib/fairdisk-test/hangs
END
mkdir -p "$units/fairdisk@hangs.service.d" "$place/upper/var/lib/fairdisk-test"/{disk,hangs}
printf '[Service]\nTimeoutStopSec=2s\n' >"$units/fairdisk@hangs.service.d/soon.conf"
truncate -s 32M "$place/disk"
mkfs.ext4 -q "$place/disk"
cat >"$place/upper/etc/fstab" <<END
/var/lib/fairdisk-test/source  /var/lib/fairdisk-test/one   fairdisk  noauto  0  0
/var/lib/fairdisk-test/source  /var/lib/fairdisk-test/two   fairdisk  noauto  0  0
/var/lib/fairdisk-test/disk    /var/lib/fairdisk-test/hangs fairdisk  noauto  0  0
END
mkdir "$place/upper/var/lib/fairdisk-test"/{one,two}
# Of what systems start at boot nothing is needed.
printf '[Unit]\nDefaultDependencies=no\n' >"$units/sysinit.target"
for unit in systemd-journald.socket systemd-journald-dev-log.socket systemd-journald.service; do
  ln -s /dev/null "$units/$unit"
done

cat >"$place/out/use.sh" <<'END'
at=/var/lib/fairdisk-test
systemctl start fairdisk@test
# It is ready when systemd says so.
mountpoint $at/mount
systemctl is-active 'fairdisk-guardian-*.scope'
echo written >$at/mount/file
dd if=/dev/zero of=$at/mount/big bs=1M count=8 oflag=direct
setpriv --reuid=65534 --regid=65534 --clear-groups sh -c "! echo >$at/mount/file"
chown 65534 $at/mount/file
setpriv --reuid=65534 --regid=65534 --clear-groups chmod 600 $at/mount/file
fairdisk ctl --at $at/mount list
fairdisk ctl --at $at/mount set /system.slice weight=300
systemctl show -p ActiveState -p StatusText fairdisk@test
grep CapBnd "/proc/$(systemctl show -P MainPID fairdisk@test)/status"
systemctl stop fairdisk@test
! mountpoint -q $at/mount
cmp <(echo written) $at/source/file
[ "$(stat -c '%s %u %a' $at/source/big $at/source/file | tr '\n' ' ')" = "8388608 0 644 8 65534 600 " ]
# A process that dies is started again, and finds its mount point.
systemctl start fairdisk@test
kill -9 "$(systemctl show -P MainPID fairdisk@test)"
state() { systemctl show -p ActiveState -p NRestarts fairdisk@test | sort | tr '\n' ' '; }
until [ "$(state)" = "ActiveState=active NRestarts=1 " ]; do sleep 0.1; done
cat $at/mount/file
systemctl stop fairdisk@test
! mountpoint -q $at/mount
# One that does not end is killed in time, and nobody goes on waiting for it.
systemctl start fairdisk@hangs
echo written >$at/hangs/file
fsfreeze --freeze $at/disk
timeout -s KILL 30 truncate -s 0 $at/hangs/file & waits=$!
until grep -q ') D ' /proc/$(systemctl show -P MainPID fairdisk@hangs)/task/*/stat; do sleep 0.1; done
systemctl stop --no-block fairdisk@hangs
ended=0
wait $waits || ended=$?
fsfreeze --unfreeze $at/disk
[ $ended = 1 ]
# Two lines of fstab share a process: when one is stopped the other goes on.
systemctl start $at/one
systemctl start $at/two
[ "$(grep -lx fairdisk /proc/[0-9]*/comm | wc -l)" = 1 ]
systemctl stop $at/one
! mountpoint -q $at/one
cat $at/two/file
systemctl stop $at/two
! mountpoint -q $at/two
while grep -qx fairdisk /proc/[0-9]*/comm; do sleep 0.1; done
# Who kills all processes of a unit does not kill its guardian.
systemctl start $at/hangs
unit=$(systemd-escape --path --suffix=mount $at/hangs)
pid=$(head -n 1 "/sys/fs/cgroup/system.slice/$unit/cgroup.procs")
echo written >$at/hangs/file
fsfreeze --freeze $at/disk
timeout -s KILL 30 truncate -s 0 $at/hangs/file & waits=$!
until grep -q ') D ' /proc/$pid/task/*/stat; do sleep 0.1; done
systemctl kill -s KILL $unit
ended=0
wait $waits || ended=$?
fsfreeze --unfreeze $at/disk
[ $ended = 1 ]
echo as it should be
END

cat >"$place/out/boot.sh" <<'END'
place=$1
mount --make-rprivate /
root=$place/root
mount -t overlay -o "lowerdir=/,upperdir=$place/upper,workdir=$place/work" overlay "$root"
mkdir -p "$root"/{proc,sys,dev,run,out}
mount --bind "$place/out" "$root/out"
mount -o loop "$place/disk" "$root/var/lib/fairdisk-test/disk"
mount -t proc proc "$root/proc"
mount -t tmpfs dev "$root/dev"
for device in null zero full random urandom fuse; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mount -t tmpfs run "$root/run"
mount -t tmpfs sys "$root/sys"
mkdir -p "$root/sys/fs/cgroup"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
exec chroot "$root" env -i container=fairdisk PATH=/usr/local/bin:/usr/bin:/bin:/sbin \
  /lib/systemd/systemd --unit=user.service --log-target=console --log-level=info --show-status=no
END

# The shell joins the group, and its namespace of cgroups begins there.
ok=0
bash -c 'echo $$ >"$0/cgroup.procs" && exec timeout -s KILL 240 unshare --mount --pid --uts --ipc \
  --cgroup --fork --kill-child bash -e "$1/out/boot.sh" "$1"' "$group" "$place" \
  >"$place/out/systemd" 2>&1 </dev/null || ok=$?
if [ "$(tail -n 1 "$place/out/said" 2>/dev/null)" != "as it should be" ]; then
  echo "under systemd ($ok):"
  tail -n 50 "$place/out/systemd"
  cat "$place/out/said" 2>/dev/null
  exit 1
fi
[ "${1:-}" = --short ] || cat "$place/out/said"
echo "mounts under systemd: as they should be"
