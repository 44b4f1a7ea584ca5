#!/usr/bin/env bash
# Installs a Debian package in a system of its own, mounts, upgrades to another version while the
# mount is in use, and purges: package-test.sh PACKAGE NEWER [ROOT.tar]. That system is what ROOT.tar
# holds, as mmdebstrap makes it, or else what this one is, with all changes in memory. Needs root.
set -euo pipefail

package=$(realpath "$1") newer=$(realpath "$2") root_tar=${3:+$(realpath "$3")}
[ -n "${ALONE:-}" ] || exec env ALONE=1 unshare --mount --propagation private "$BASH_SOURCE" \
  "$package" "$newer" $root_tar

fail() { echo "error: $*" >&2; exit 1; }
work=$(mktemp -d)
root=$work/root
# The mounts go with this namespace; the directory is empty then.
trap 'cd /; umount -lR "$work" 2>/dev/null || true; rmdir "$work"' EXIT
mount -t tmpfs none "$work"
mkdir -p "$root" "$work/upper" "$work/work"
if [ -n "$root_tar" ]; then
  tar -C "$root" --exclude './dev/*' -xf "$root_tar"
else
  mount -t overlay -o "lowerdir=/,upperdir=$work/upper,workdir=$work/work" none "$root" ||
    { echo "skipped: no overlay of this system"; exit 0; }
fi
for each in dev proc sys; do mount --rbind "/$each" "$root/$each"; done
for each in run tmp; do mount -t tmpfs none "$root/$each"; done
mkdir "$root/tmp/packages"
cp "$package" "$newer" "$root/tmp/packages/"

within() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"; }
# What is there, but for what dpkg notes of itself. Of this system, which others change meanwhile, what
# is there and not in the system proper, or the other way round.
files() {
  local place=$root
  [ -n "$root_tar" ] || place=$work/upper
  (cd "$place" && find . -xdev \( -path ./var/lib/dpkg -o -path ./var/cache -o -path ./var/log \) -prune -o -print) |
    while read -r path; do
      [ -z "$root_tar" ] && [ -e "/$path" ] && [ ! -c "$place/$path" ] || echo "$path"
    done | sort
}
version_is() { within dpkg-query -W -f '${Version}' fairdisk | grep -qx "$1" || fail "version $1 is not installed"; }
install_it() { within dpkg -i "/tmp/packages/$(basename "$1")" >"$work/log" 2>&1 || { cat "$work/log"; fail "$1"; }; }
of() { dpkg-deb -f "$1" Version; }

before=$(files)
install_it "$package"
version_is "$(of "$package")"
within fairdisk --version
within dpkg --verify fairdisk
[ "$(within readlink -f /sbin/mount.fairdisk)" = /usr/bin/fairdisk ] || fail "mount.fairdisk leads nowhere"
for there in /usr/lib/systemd/system/fairdisk@.service /usr/share/man/man8/mount.fairdisk.8.gz \
  /usr/share/bash-completion/completions/fairdisk /usr/share/fish/vendor_completions.d/fairdisk.fish; do
  [ -e "$root$there" ] || fail "no $there"
done
grep -q '^ExecStart=/usr/bin/fairdisk ' "$root/usr/lib/systemd/system/fairdisk@.service" || fail "the unit names another program"

mkdir "$root/tmp/data" "$root/tmp/shared"
echo kept >"$root/tmp/data/file"
if [ -e "$root/dev/fuse" ]; then
  within mount -t fairdisk /tmp/data /tmp/shared
  install_it "$newer"
  version_is "$(of "$newer")"
  within cat /tmp/shared/file | grep -qx kept || fail "the mount does not outlive the upgrade"
  within fairdisk ctl status | grep -q '/tmp/data on /tmp/shared' || fail "the new version does not find the mount"
  within umount /tmp/shared
else
  echo "skipped: a mount; no /dev/fuse"
  install_it "$newer"
fi
mkdir -p "$root/etc/fairdisk/groups.d"
echo '# written by fairdisk ctl set --keep' >"$root/etc/fairdisk/groups.d/ctl.toml"
within dpkg -P fairdisk >"$work/log" 2>&1 || { cat "$work/log"; fail "purge"; }
left=$(diff <(grep . <<<"$before") <(files) || true)
[ -z "$left" ] || fail "a purge leaves"$'\n'"$left"
echo "installed, mounted, upgraded and purged"
