//! The names of mounts: each leads to the socket of whoever runs its disk.

use super::alone::Alone;
use super::claim::claim_abandoned;
use super::socket_name;
use crate::file_lock::Held;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, Stat, fstat, lstat, open};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use rustix::process::geteuid;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// What the name of a socket ends in that nobody may find yet.
pub(super) const NEW: &str = "new";

/// The name of a mount beside the socket where it is asked after; gone when dropped.
#[derive(Debug)]
pub(crate) struct Name {
    _own: Option<Own>,
}

/// A link or socket that we made; gone when dropped, unless another has taken its place.
#[derive(Debug)]
pub(super) struct Own {
    path: PathBuf,
    /// The file itself: no other has its number meanwhile.
    own: OwnedFd,
}

impl Own {
    /// What has just been made there.
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
            Err(held) => {
                // Whoever mounts next takes it away.
                let error = io::Error::from(held);
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
    /// Names the mount at `mountpoint`, unless the socket has that name itself.
    pub(crate) fn give(mountpoint: &Path, socket: &Path) -> io::Result<Self> {
        let name = socket.with_file_name(socket_name(mountpoint));
        if name == socket {
            return Ok(Self { _own: None });
        }
        let _alone = alone_beside(&name)?;
        // Left behind by a mount at the same place that is gone: ours has just taken the place.
        remove(&name)?;
        symlink(socket.file_name().unwrap_or_default(), &name)?;
        Ok(Self { _own: Some(Own::at(name)?) })
    }
}

/// Waits until nobody else makes or takes away anything where this is.
pub(super) fn alone_beside(path: &Path) -> Result<Option<Alone>, Held> {
    path.parent().map_or(Ok(None), Alone::wait)
}

/// Makes sure that the directory of sockets is there, and ours: a name in a directory for temporary
/// files can be taken by others. What those left in it who were killed is gone then.
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

/// Removes a file; that there is none is as good.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if !is_missing(&error) => Err(error),
        _ => Ok(()),
    }
}

/// Takes away what those left behind who were killed: sockets where nobody listens, names that lead
/// to them, and locks that nobody holds.
fn sweep(directory: &Path) {
    // Whoever else is at it has them go as well, or the next one does.
    let Some(_alone) = Alone::now(directory) else { return };
    for socket in entries(directory).filter(|path| is_silent(path)) {
        if !has_extension(&socket, "disk") {
            // Whoever answers there has listened before it had that name, or is about to.
            let _ = fs::remove_file(&socket);
            continue;
        }
        let Some(_claim) = claim_abandoned(&socket) else { continue };
        // Whoever had the disk a moment ago may have made another.
        if is_silent(&socket) {
            let leads =
                |link: &PathBuf| fs::read_link(link).is_ok_and(|to| directory.join(to) == socket);
            for gone in entries(directory).filter(leads).chain([socket.clone()]) {
                let _ = fs::remove_file(gone);
            }
        }
    }
    for lock in entries(directory).filter(|path| has_extension(path, "lock")) {
        // It goes with whoever has it.
        drop(claim_abandoned(&lock.with_extension("disk")));
    }
}

fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|it| it == extension)
}

/// Whether it is the socket of a disk or of a mount by itself, or one that was to become that, and
/// nobody listens there.
fn is_silent(path: &Path) -> bool {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|it| it.file_type().is_socket());
    if !is_socket || !["disk", "sock", NEW].iter().any(|extension| has_extension(path, extension)) {
        return false;
    }
    visit(path) == Err(Errno::CONNREFUSED)
}

/// Whether somebody listens at a socket, and why not. Who is too busy to be visited does.
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
        // Who has the lock is about to listen.
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

    /// One that is silent may be replaced before it is taken away.
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
