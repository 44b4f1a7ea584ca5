#!/usr/bin/env bash
# Builds the image of packaging/Dockerfile by buildah, without a daemon, and tries it: the program runs
# in it, and mounts there if /dev/fuse is here. The base images are made here, as no registry is asked:
# Debian's by mmdebstrap, or of ROOT.tar, that of Rust of it and of the toolchain that builds here.
# image-test.sh [ROOT.tar]; needs root, and /dev/fuse for the mount. What is built is the working tree: files
# that git tracks, as they are. CARGO_PROFILE_RELEASE_LTO=off and the like make it faster.
set -euo pipefail
[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 0; }
root_tar=${1:+$(realpath "$1")}
. "$(dirname "${BASH_SOURCE[0]}")/toolchain.sh"

fail() { echo "error: $*" >&2; exit 1; }
for tool in buildah mmdebstrap; do
  command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 0; }
done
suite=$(sed -n 's/^FROM debian:\([a-z]*\)-slim$/\1/p' packaging/Dockerfile)
base=docker.io/library/$(sed -n 's/^FROM \(debian:.*\)$/\1/p' packaging/Dockerfile)
rust=docker.io/library/$(sed -n 's/^FROM \(rust:.*\) AS build$/\1/p' packaging/Dockerfile)

mkdir -p "${CARGO_TARGET_DIR:-target}"
work=$(mktemp -d -p "$(realpath "${CARGO_TARGET_DIR:-target}")" image-XXXXXX)
trap 'buildah() { command buildah --root "$work/images" --runroot "$work/run" --storage-driver vfs "$@"; }
  buildah rm --all >/dev/null 2>&1; rm -rf "$work"' EXIT
buildah() { command buildah --root "$work/images" --runroot "$work/run" --storage-driver vfs "$@"; }
within() { buildah run --isolation chroot "$@"; }

if [ -z "$root_tar" ]; then
  root_tar=$work/root.tar
  mmdebstrap --quiet --variant=minbase --include=ca-certificates "$suite" "$root_tar"
fi
debian=$(buildah from scratch)
buildah add --quiet "$debian" "$root_tar" / >/dev/null
buildah commit --quiet "$debian" "$base" >/dev/null

builder=$(buildah from --pull-never "$base")
within "$builder" -- sh -c 'apt-get update -qq && apt-get install -qq -y --no-install-recommends gcc libc6-dev >/dev/null'
buildah copy --quiet "$builder" "$(rustc --print sysroot)" /usr/local/rust >/dev/null
options=(--env PATH=/usr/local/rust/bin:/usr/sbin:/usr/bin:/sbin:/bin --env CARGO_HOME=/usr/local/cargo)
for name in LTO OPT_LEVEL CODEGEN_UNITS; do
  value=CARGO_PROFILE_RELEASE_$name
  [ -z "${!value:-}" ] || options+=(--env "$value=${!value}")
done
buildah config "${options[@]}" "$builder"
buildah commit --quiet "$builder" "$rust" >/dev/null

mkdir "$work/context"
# A file that is deleted and not committed is tracked still.
git ls-files -z | while IFS= read -r -d '' file; do
  [ ! -e "$file" ] || printf '%s\0' "$file"
done | tar -c --null --files-from=- | tar -x -C "$work/context"
# What cargo has fetched here is not fetched again.
fetched=${CARGO_HOME:-$HOME/.cargo}/registry
buildah bud --quiet --isolation chroot --pull-never --volume "$fetched:/usr/local/cargo/registry" \
  -f packaging/Dockerfile -t fairdisk "$work/context" >/dev/null

container=$(buildah from --pull-never fairdisk)
[ "$(buildah inspect --format '{{.OCIv1.Config.Entrypoint}}' fairdisk)" = '[fairdisk]' ] || fail "another entry point"
within "$container" -- fairdisk --version
within "$container" -- fairdisk run two-groups --seeds 1 --duration 1s --quiet
[ "$(within "$container" -- readlink -f /usr/sbin/mount.fairdisk)" = /usr/bin/fairdisk ] || fail "mount.fairdisk leads nowhere"
if [ -e /dev/fuse ]; then
  within --cap-add CAP_SYS_ADMIN --volume /dev/fuse:/dev/fuse "$container" -- sh -ec '
    mkdir /data /shared && echo kept >/data/file
    trap "umount /shared" EXIT
    fairdisk mount /data /shared --allow-other
    grep -qx kept /shared/file
    fairdisk ctl status
    trap - EXIT
    umount /shared'
  echo "built, run and mounted"
else
  echo "skipped: a mount; no /dev/fuse"
  echo "built and run"
fi
