//! The names of mounts: symbolic links in the directory of sockets that lead from a mount point's
//! name to the socket of the daemon that serves it.

use super::alone::Alone;
use super::claim::claim_abandoned;
use super::socket_name;
use crate::file_lock::NotNow;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, Stat, fstat, lstat, open};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use rustix::process::geteuid;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// The extension of a socket that is not ready to be found.
pub(super) const NEW: &str = "new";

/// The name of a mount, removed when dropped.
#[derive(Debug)]
pub(crate) struct Name {
    _own: Option<Own>,
}

/// A symbolic link or socket that we created, removed when dropped unless another file has taken
/// its place.
#[derive(Debug)]
pub(super) struct Own {
    path: PathBuf,
    /// A descriptor of the file, which keeps its inode number from being reused.
    own: OwnedFd,
}

impl Own {
    /// Takes ownership of the file just created at `path`.
    pub(super) fn at(path: PathBuf) -> io::Result<Self> {
        let own = open(&path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { path, own })
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let identity = |found: Stat| (found.st_dev, found.st_ino);
        let _alone = match alone_beside(&self.path) {
            Ok(alone) => alone,
            Err(why) => {
                // It is left over. Whoever mounts at its place removes it, and so does anybody who
                // mounts once nobody answers there.
                let error = io::Error::from(why);
                tracing::warn!(path = %self.path.display(), %error, "left behind");
                return;
            }
        };
        let there = lstat(&self.path).map(identity).ok();
        if there.is_some() && there == fstat(&self.own).map(identity).ok() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Name {
    /// Gives the mount at `mountpoint` its name, unless the socket itself has that name.
    pub(crate) fn give(mountpoint: &Path, socket: &Path) -> io::Result<Self> {
        let name = socket.with_file_name(socket_name(mountpoint));
        if name == socket {
            return Ok(Self { _own: None });
        }
        let _alone = alone_beside(&name)?;
        // A name left over from an earlier mount at the same place, since ours is the one there
        // now.
        remove(&name)?;
        symlink(socket.file_name().unwrap_or_default(), &name)?;
        Ok(Self { _own: Some(Own::at(name)?) })
    }
}

/// Waits for the lock of the directory that contains `path`.
pub(super) fn alone_beside(path: &Path) -> Result<Option<Alone>, NotNow> {
    path.parent().map_or(Ok(None), Alone::wait)
}

/// Creates the directory of sockets if necessary, checks that it is ours, since a name in a
/// directory for temporary files can be taken by anybody, and removes what killed processes have
/// left in it.
pub(super) fn prepare(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let found = fs::symlink_metadata(directory)?;
    if !found.is_dir() || found.uid() != geteuid().as_raw() {
        let text = "somebody else has made it; set XDG_RUNTIME_DIR to a directory of your own";
        return Err(io::Error::other(text));
    }
    fs::set_permissions(directory, Permissions::from_mode(0o755))?;
    sweep(directory);
    Ok(())
}

/// Removes a file, if it exists.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if !is_missing(&error) => Err(error),
        _ => Ok(()),
    }
}

/// Removes what killed processes have left over: sockets at which nobody listens, names that lead
/// to them, and locks that nobody holds.
fn sweep(directory: &Path) {
    // If another process has the lock, it or a later one does the same.
    let Some(_alone) = Alone::now(directory) else { return };
    for socket in entries(directory).filter(|path| is_silent(path)) {
        if !has_extension(&socket, "disk") {
            // Not a disk's socket. A process binds its socket before it gives it this name, so a
            // silent one is left over.
            let _ = fs::remove_file(&socket);
            continue;
        }
        let Some(_claim) = claim_abandoned(&socket) else { continue };
        // The previous owner of the disk may have created a new socket meanwhile.
        if is_silent(&socket) {
            let leads =
                |link: &PathBuf| fs::read_link(link).is_ok_and(|to| directory.join(to) == socket);
            for gone in entries(directory).filter(leads).chain([socket.clone()]) {
                let _ = fs::remove_file(gone);
            }
        }
    }
    for lock in entries(directory).filter(|path| has_extension(path, "lock")) {
        // Dropping the claim removes the lock file.
        drop(claim_abandoned(&lock.with_extension("disk")));
    }
}

fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|it| it == extension)
}

/// Whether the file is a socket of a disk or of a single mount, or one that was to become that, and
/// nobody listens at it.
fn is_silent(path: &Path) -> bool {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|it| it.file_type().is_socket());
    if !is_socket || !["disk", "sock", NEW].iter().any(|extension| has_extension(path, extension)) {
        return false;
    }
    visit(path) == Err(Errno::CONNREFUSED)
}

/// Connects to a socket to find out whether somebody listens. A listener that is too busy to accept
/// counts.
pub(super) fn visit(path: &Path) -> rustix::io::Result<()> {
    let (kind, flags) = (SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC);
    let visitor = socket_with(AddressFamily::UNIX, kind, flags, None)?;
    match connect(visitor, &SocketAddrUnix::new(path)?) {
        Err(Errno::AGAIN) => Ok(()),
        said => said,
    }
}

fn is_missing(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{FlockOperation, flock};
    use std::os::unix::net::UnixListener;

    #[test]
    fn what_was_left_behind_goes_and_what_is_answered_stays() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        let listener = UnixListener::bind(at("8:0.disk")).unwrap();
        drop(UnixListener::bind(at("8:16.disk")).unwrap());
        drop(UnixListener::bind(at("8:48.disk")).unwrap());
        let held = fs::File::create(at("8:48.lock")).unwrap();
        flock(&held, FlockOperation::NonBlockingLockExclusive).unwrap();
        fs::write(at("8:16.lock"), "").unwrap();
        fs::write(at("8:64.lock"), "").unwrap();
        drop(UnixListener::bind(at("mnt-c.sock")).unwrap());
        drop(UnixListener::bind(at("4711.new")).unwrap());
        let own = UnixListener::bind(at("mnt-e.sock")).unwrap();
        symlink("8:0.disk", at("mnt-a.sock")).unwrap();
        symlink("8:16.disk", at("mnt-b.sock")).unwrap();
        symlink("8:32.disk", at("mnt-d.sock")).unwrap();
        sweep(place.path());
        let mut left: Vec<_> = entries(place.path()).collect();
        left.sort();
        // The process that holds the lock is about to listen.
        let stay = [
            ".lock",
            "8:0.disk",
            "8:48.disk",
            "8:48.lock",
            "mnt-a.sock",
            "mnt-d.sock",
            "mnt-e.sock",
        ];
        assert_eq!(left, stay.map(at));
        drop((listener, held, own));
        sweep(place.path());
        assert_eq!(entries(place.path()).count(), 2);
    }

    /// A socket found silent may be replaced before it is removed.
    #[test]
    fn nothing_is_swept_while_somebody_makes_a_socket() {
        let place = tempfile::tempdir().unwrap();
        let left = place.path().join("mnt-a.sock");
        drop(UnixListener::bind(&left).unwrap());
        let alone = Alone::wait(place.path()).unwrap();
        sweep(place.path());
        assert!(left.exists());
        drop(alone);
        sweep(place.path());
        assert!(!left.exists());
    }

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
