//! The claim to a disk: the first mount on it runs its scheduler, and later ones join.
//!
//! Whoever holds the lock of a disk runs it, and answers at the disk's socket. The kernel releases
//! the lock when its holder ends, so what a crash leaves behind is in nobody's way. A holder that
//! ends normally first removes the lock file; a lock counts only while its file is the one at the
//! path.

use super::client::{Client, ControlError};
use super::directory;
use super::name::prepare;
use crate::file_lock::{FileLock, NotLocked, NotNow};
use crate::mounting::block_device::BlockDevice;
use fairdisk_core::Span;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often to check on a process that is about to start or to end.
const LOOKS: u32 = 500;
/// The interval between these checks.
const PAUSE: Duration = Duration::from_millis(20);

/// The right to run the scheduler of a disk, until dropped.
#[derive(Debug)]
pub struct Claim {
    socket: PathBuf,
    path: PathBuf,
    lock: FileLock,
}

impl Drop for Claim {
    fn drop(&mut self) {
        // While we hold the lock, nobody else removes or replaces the file.
        if self.lock.is_at(&self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Who runs a disk.
#[derive(Debug)]
pub enum Turn {
    /// This process does.
    Ours(Claim),
    /// Another process already does, and answers.
    Theirs(Client),
}

/// Why a disk can neither be claimed nor joined.
#[derive(Debug)]
pub enum ClaimError {
    /// Nobody can create the lock file or socket there.
    NoPlace {
        /// The path of the lock file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The disk cannot be locked at the moment. Others may run it all the same.
    NotLocked {
        /// The lock file, the error of the system, and what to do.
        why: String,
    },
    /// The process that holds the lock does not answer.
    Silent {
        /// The path of the lock file.
        lock: PathBuf,
    },
    /// The process that answers belongs to another user.
    Stranger {
        /// The path of the socket.
        socket: PathBuf,
    },
}

impl fmt::Display for ClaimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPlace { path, error } => write!(f, "{}: {error}", path.display()),
            Self::NotLocked { why } => f.write_str(why),
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
    /// The socket at which the process that runs the disk answers.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }
}

/// Claims `disk`, or connects to the process that runs it. Waits for a process that is about to
/// start or to end.
///
/// # Errors
/// The disk can neither be claimed nor joined.
pub fn claim(disk: &BlockDevice) -> Result<Turn, ClaimError> {
    claim_in(&directory(), disk, LOOKS)
}

/// The result of one attempt to claim a disk.
enum Attempt {
    Ours(Claim),
    /// The lock file was removed meanwhile; try again.
    Again,
    Theirs,
}

fn attempt(socket: &Path) -> Result<Attempt, NotLocked> {
    let path = socket.with_extension("lock");
    match FileLock::within(&path, Span::ZERO) {
        Ok(lock) if lock.is_at(&path) => {
            Ok(Attempt::Ours(Claim { socket: socket.to_owned(), path, lock }))
        }
        Ok(_) => Ok(Attempt::Again),
        Err(NotLocked::NotNow(NotNow::Held(_))) => Ok(Attempt::Theirs),
        Err(error) => Err(error),
    }
}

/// Claims the disk with this socket if nobody has it. While the claim is kept, nobody answers at
/// the socket.
pub(super) fn claim_abandoned(socket: &Path) -> Option<Claim> {
    match attempt(socket) {
        Ok(Attempt::Ours(claim)) => Some(claim),
        Ok(Attempt::Again | Attempt::Theirs) | Err(_) => None,
    }
}

fn claim_in(directory: &Path, disk: &BlockDevice, looks: u32) -> Result<Turn, ClaimError> {
    let socket = directory.join(format!("{}.disk", disk.number));
    let lock = socket.with_extension("lock");
    let failed = |why| match why {
        NotLocked::Never(error) => ClaimError::NoPlace { path: lock.clone(), error },
        NotLocked::NotNow(why) => ClaimError::NotLocked { why: io::Error::from(why).to_string() },
    };
    prepare(directory).map_err(|error| failed(NotLocked::of(&lock, error)))?;
    for _ in 0..looks {
        match attempt(&socket).map_err(failed)? {
            Attempt::Ours(claim) => return Ok(Turn::Ours(claim)),
            Attempt::Again => continue,
            Attempt::Theirs => {}
        }
        match Client::connect(&socket) {
            Ok(client) if client.is_trusted() => return Ok(Turn::Theirs(client)),
            Ok(_) => return Err(ClaimError::Stranger { socket }),
            Err(ControlError::NotRunning { .. }) => {
                fairdisk_plane::pause(PAUSE);
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
    use std::sync::atomic::{AtomicU32, Ordering};

    fn disk(number: &str) -> BlockDevice {
        let number = number.to_owned();
        BlockDevice {
            name: number.clone(),
            number,
            start: 0,
            rotational: None,
            sectors: None,
            kind: None,
        }
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
    fn who_ends_leaves_no_lock_and_no_two_have_a_disk() {
        let place = tempfile::tempdir().unwrap();
        let (rounds, inside, done) = (200, AtomicU32::new(0), AtomicU32::new(0));
        let round = || match claim_in(place.path(), &disk("8:0"), 1) {
            Ok(Turn::Ours(_claim)) => {
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two have it");
                std::thread::yield_now();
                inside.fetch_sub(1, Ordering::SeqCst);
                done.fetch_add(1, Ordering::SeqCst);
            }
            Ok(Turn::Theirs(_)) => panic!("nobody answers"),
            Err(_) => {}
        };
        let compete = || {
            while done.load(Ordering::SeqCst) < rounds {
                round();
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(compete);
            }
        });
        assert!(!place.path().join("8:0.lock").exists(), "it is gone with the last");
    }

    #[test]
    fn a_lock_on_a_file_that_was_taken_away_is_none() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("8:0.lock");
        let old = FileLock::within(&path, Span::ZERO).unwrap();
        fs::remove_file(&path).unwrap();
        let Ok(Turn::Ours(claim)) = claim_in(place.path(), &disk("8:0"), 1) else { panic!() };
        assert!(!old.is_at(&path));
        // Another lock file is there by now, which is not this claim's.
        fs::remove_file(&path).unwrap();
        fs::write(&path, "").unwrap();
        drop(claim);
        assert!(path.exists());
    }

    #[test]
    fn what_a_crash_leaves_behind_is_in_nobodys_way() {
        let place = tempfile::tempdir().unwrap();
        let claim = || claim_in(place.path(), &disk("8:0"), 2);
        let Ok(Turn::Ours(first)) = claim() else { panic!("nobody was there before") };
        // A socket and a name that nobody has removed.
        drop(UnixListener::bind(first.socket()).unwrap());
        let name = place.path().join(socket_name(Path::new("/mnt/a")));
        std::os::unix::fs::symlink(first.socket(), &name).unwrap();
        drop(first);
        assert!(matches!(claim(), Ok(Turn::Ours(_))));
        assert!(name.symlink_metadata().is_err(), "the name of a mount that is gone");
    }
}
