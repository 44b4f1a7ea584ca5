//! Who runs the scheduler of a disk: the first mount on it; those that come later join.
//!
//! Whoever holds the lock of a disk runs it, and answers at the disk's socket. The kernel gives a
//! lock back when its holder ends, however it ends: what a crash leaves behind is in nobody's way.

use super::client::{Client, ControlError};
use super::directory;
use super::name::{prepare, sweep};
use crate::block_device::BlockDevice;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often we look for somebody who is about to start or to end.
const LOOKS: u32 = 500;
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// The right to run the scheduler of a disk, for as long as it is kept.
#[derive(Debug)]
pub struct Claim {
    socket: PathBuf,
    _lock: File,
}

/// Whose disk it is.
#[derive(Debug)]
pub enum Turn {
    /// Ours.
    Ours(Claim),
    /// Somebody's who was there before, and answers.
    Theirs(Client),
}

/// Why it is nobody's.
#[derive(Debug)]
pub enum ClaimError {
    /// There is no place for locks and sockets.
    NoPlace {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// Somebody has the lock and does not answer.
    Silent {
        /// The lock.
        lock: PathBuf,
    },
    /// Somebody answers who is another user.
    Stranger {
        /// The socket.
        socket: PathBuf,
    },
}

impl fmt::Display for ClaimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPlace { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Silent { lock } => write!(
                f,
                "{}: the process that runs the disk does not answer; see who it is with \
                 `fuser -v` and that file and end it, or use --separate for a scheduler of your own",
                lock.display()
            ),
            Self::Stranger { socket } => write!(
                f,
                "{}: answered by another user; use --separate for a scheduler of your own",
                socket.display()
            ),
        }
    }
}

impl std::error::Error for ClaimError {}

impl Claim {
    /// Where whoever runs the disk answers.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }
}

/// Finds out who runs `disk`, and waits for who is about to start or to end.
///
/// # Errors
/// Nobody can be found, and it cannot be us.
pub fn claim(disk: &BlockDevice) -> Result<Turn, ClaimError> {
    claim_in(&directory(), disk, LOOKS)
}

fn claim_in(directory: &Path, disk: &BlockDevice, looks: u32) -> Result<Turn, ClaimError> {
    let lock = directory.join(format!("{}.lock", disk.number));
    let socket = directory.join(format!("{}.disk", disk.number));
    let no_place = |error| ClaimError::NoPlace { path: lock.clone(), error };
    prepare(directory).map_err(no_place)?;
    let file = File::options().create(true).truncate(false).write(true).mode(0o600).open(&lock);
    let file = file.map_err(no_place)?;
    for _ in 0..looks {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                sweep(directory, &socket);
                return Ok(Turn::Ours(Claim { socket, _lock: file }));
            }
            Err(Errno::WOULDBLOCK | Errno::INTR) => {}
            Err(error) => return Err(no_place(error.into())),
        }
        match Client::connect(&socket) {
            Ok(client) if client.is_trusted() => return Ok(Turn::Theirs(client)),
            Ok(_) => return Err(ClaimError::Stranger { socket }),
            Err(ControlError::NotRunning { .. }) => {
                std::thread::park_timeout(PAUSE);
            }
            Err(_) => break,
        }
    }
    Err(ClaimError::Silent { lock })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::socket_name;
    use std::os::unix::net::UnixListener;

    fn disk(number: &str) -> BlockDevice {
        let number = number.to_owned();
        BlockDevice { name: number.clone(), number, start: 0, rotational: None }
    }

    #[test]
    fn the_first_has_the_disk_and_the_next_finds_it_there() {
        let place = tempfile::tempdir().unwrap();
        let claim = |number| claim_in(place.path(), &disk(number), 2);
        let Ok(Turn::Ours(first)) = claim("8:0") else { panic!("nobody was there before") };
        assert!(matches!(claim("8:0"), Err(ClaimError::Silent { .. })));
        assert!(matches!(claim("8:16"), Ok(Turn::Ours(_))), "another disk");
        let _listener = UnixListener::bind(first.socket()).unwrap();
        assert!(matches!(claim("8:0"), Ok(Turn::Theirs(_))));
    }

    #[test]
    fn what_a_crash_leaves_behind_is_in_nobodys_way() {
        let place = tempfile::tempdir().unwrap();
        let claim = || claim_in(place.path(), &disk("8:0"), 2);
        let Ok(Turn::Ours(first)) = claim() else { panic!("nobody was there before") };
        // A socket and a name that nobody took away.
        drop(UnixListener::bind(first.socket()).unwrap());
        let name = place.path().join(socket_name(Path::new("/mnt/a")));
        std::os::unix::fs::symlink(first.socket(), &name).unwrap();
        let other = place.path().join("other.sock");
        drop(UnixListener::bind(&other).unwrap());
        drop(first);
        assert!(matches!(claim(), Ok(Turn::Ours(_))));
        assert!(name.symlink_metadata().is_err(), "the name of a mount that is gone");
        assert!(other.exists(), "none of our business");
    }
}
