//! The names of mounts: each leads to the socket of whoever runs its disk.

use super::socket_name;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, Stat, fstat, lstat, open};
use rustix::process::geteuid;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// The name of a mount beside the socket where it is asked after; gone when dropped.
#[derive(Debug)]
pub(crate) struct Name(Option<Link>);

#[derive(Debug)]
struct Link {
    path: PathBuf,
    /// The link itself: no other has its number meanwhile.
    own: OwnedFd,
}

impl Name {
    /// Names the mount at `mountpoint`, unless the socket has that name itself.
    pub(crate) fn give(mountpoint: &Path, socket: &Path) -> io::Result<Self> {
        let name = socket.with_file_name(socket_name(mountpoint));
        if name == socket {
            return Ok(Self(None));
        }
        // Left behind by a mount at the same place that is gone: ours has just taken the place.
        remove(&name)?;
        symlink(socket.file_name().unwrap_or_default(), &name)?;
        let own = open(&name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self(Some(Link { path: name, own })))
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        let Some(Link { path, own }) = &self.0 else { return };
        let identity = |found: Stat| (found.st_dev, found.st_ino);
        let there = lstat(path).map(identity).ok();
        // Somebody else may have mounted there meanwhile, and given the name anew.
        if there.is_some() && there == fstat(own).map(identity).ok() {
            let _ = fs::remove_file(path);
        }
    }
}

/// Makes sure that the directory of sockets is there, and ours: a name in a directory for temporary
/// files can be taken by others.
pub(super) fn prepare(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let found = fs::symlink_metadata(directory)?;
    if !found.is_dir() || found.uid() != geteuid().as_raw() {
        let text = "somebody else has made it; set XDG_RUNTIME_DIR to a directory of your own";
        return Err(io::Error::other(text));
    }
    fs::set_permissions(directory, Permissions::from_mode(0o755))
}

/// Removes a file; that there is none is as good.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Takes away the names that lead to `socket`.
pub(super) fn sweep(directory: &Path, socket: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let leads = fs::read_link(entry.path()).is_ok_and(|to| directory.join(to) == socket);
        if leads {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_was_given_anew_stays() {
        let place = tempfile::tempdir().unwrap();
        let socket = place.path().join("8:0.disk");
        let at = Path::new("/mnt/a");
        let name = place.path().join(socket_name(at));
        let there = || fs::read_link(&name).is_ok();
        let [old, new] = [(); 2].map(|()| Name::give(at, &socket).unwrap());
        drop(old);
        assert!(there());
        drop(new);
        assert!(!there());
    }
}
