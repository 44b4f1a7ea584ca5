//! The client of the control protocol.

use super::directories;
use super::protocol::{Answer, Ask, Status};
use rustix::net::sockopt::socket_peercred;
use rustix::process::geteuid;
use std::fmt;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A connection to the daemon of a disk.
#[derive(Debug)]
pub struct Client {
    path: PathBuf,
    stream: BufReader<UnixStream>,
}

/// Why a request has failed.
#[derive(Debug)]
pub enum ControlError {
    /// Nobody answers at the socket.
    NotRunning {
        /// The path of the socket.
        socket: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The connection was lost.
    Lost(io::Error),
    /// The answer is not of this protocol or version.
    Gibberish(String),
    /// The request was refused, for this reason.
    Refused(String),
    /// The request has failed for this reason, which may be temporary.
    Failed(String),
}

impl fmt::Display for ControlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRunning { socket, error } => {
                write!(f, "no mount answers at {}: {error}", socket.display())
            }
            Self::Lost(error) => write!(f, "the mount hung up: {error}"),
            Self::Gibberish(answer) => {
                write!(f, "the mount answered `{answer}`: is it of another version?")
            }
            Self::Refused(why) | Self::Failed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for ControlError {}

impl Client {
    /// Connects to the daemon behind a socket.
    ///
    /// # Errors
    /// Nobody answers.
    pub fn connect(socket: &Path) -> Result<Self, ControlError> {
        let stream = UnixStream::connect(socket)
            .map_err(|error| ControlError::NotRunning { socket: socket.to_owned(), error })?;
        Ok(Self { path: socket.to_owned(), stream: BufReader::new(stream) })
    }

    /// Limits the time of each read and write. An answer that takes longer counts as a lost
    /// connection.
    ///
    /// # Errors
    /// The system refuses.
    pub fn wait_no_longer_than(&self, patience: Duration) -> io::Result<()> {
        let stream = self.stream.get_ref();
        stream.set_read_timeout(Some(patience))?;
        stream.set_write_timeout(Some(patience))
    }

    /// The path of the socket.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of the daemon's process; `None` if the kernel does not tell, as for another PID
    /// namespace.
    #[must_use]
    pub fn process(&self) -> Option<i32> {
        let peer = socket_peercred(self.stream.get_ref()).ok()?;
        Some(peer.pid.as_raw_nonzero().get())
    }

    /// Whether the daemon runs as root or as the same user.
    pub(super) fn is_trusted(&self) -> bool {
        let peer = socket_peercred(self.stream.get_ref());
        peer.is_ok_and(|peer| peer.uid.is_root() || peer.uid == geteuid())
    }

    /// Sends a request and waits for the answer.
    ///
    /// # Errors
    /// The request is refused or fails, or the connection is lost.
    pub fn ask(&mut self, ask: &Ask) -> Result<Answer, ControlError> {
        let gibberish = |error: serde_json::Error| ControlError::Gibberish(error.to_string());
        let mut line = serde_json::to_string(ask).map_err(gibberish)?;
        line.push('\n');
        self.stream.get_mut().write_all(line.as_bytes()).map_err(ControlError::Lost)?;
        let mut answer = String::new();
        if self.stream.read_line(&mut answer).map_err(ControlError::Lost)? == 0 {
            return Err(ControlError::Lost(io::ErrorKind::UnexpectedEof.into()));
        }
        match serde_json::from_str(&answer) {
            Ok(Answer::Error(why)) => Err(ControlError::Refused(why)),
            Ok(Answer::Failed(why)) => Err(ControlError::Failed(why)),
            Ok(answer) => Ok(answer),
            Err(_) => Err(ControlError::Gibberish(answer.trim().chars().take(80).collect())),
        }
    }

    /// The status of the disk.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn status(&mut self) -> Result<Status, ControlError> {
        match self.ask(&Ask::List)? {
            Answer::Status(status) => Ok(status),
            other => Err(ControlError::Gibberish(format!("{other:?}"))),
        }
    }
}

/// A connection to each daemon that runs a disk. Sockets left over from killed daemons are ignored.
#[must_use]
pub fn running() -> Vec<Client> {
    let mut all: Vec<PathBuf> = directories().iter().flat_map(|place| sockets(place)).collect();
    all.sort();
    all.dedup();
    let mut known = Vec::new();
    let clients = all.iter().filter_map(|path| Client::connect(path).ok());
    let new = clients.filter(|client| {
        let process = client.process();
        let new = process.is_none() || !known.contains(&process);
        known.push(process);
        new
    });
    new.collect()
}

/// The sockets and names of mounts in a directory, sorted.
fn sockets(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let mut all: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "sock")).collect();
    all.sort();
    all
}
