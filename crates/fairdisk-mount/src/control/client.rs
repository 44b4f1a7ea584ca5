//! The asker's end.

use super::directories;
use super::protocol::{Answer, Ask, Status};
use rustix::net::sockopt::socket_peercred;
use rustix::process::geteuid;
use std::fmt;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A connection to a mount.
#[derive(Debug)]
pub struct Client {
    path: PathBuf,
    stream: BufReader<UnixStream>,
}

/// Why nothing came of it.
#[derive(Debug)]
pub enum ControlError {
    /// Nobody answers at the socket.
    NotRunning {
        /// The socket.
        socket: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The other end broke off.
    Lost(io::Error),
    /// The other end speaks another language.
    Gibberish(String),
    /// It was refused.
    Refused(String),
    /// It has not worked, and may the next time.
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
    /// Connects to the mount behind a socket.
    ///
    /// # Errors
    /// Nobody answers.
    pub fn connect(socket: &Path) -> Result<Self, ControlError> {
        let stream = UnixStream::connect(socket)
            .map_err(|error| ControlError::NotRunning { socket: socket.to_owned(), error })?;
        Ok(Self { path: socket.to_owned(), stream: BufReader::new(stream) })
    }

    /// An answer that takes longer than this counts as a connection that broke.
    ///
    /// # Errors
    /// The system refuses.
    pub fn wait_no_longer_than(&self, patience: Duration) -> io::Result<()> {
        let stream = self.stream.get_ref();
        stream.set_read_timeout(Some(patience))?;
        stream.set_write_timeout(Some(patience))
    }

    /// The socket.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The process at the other end; nothing if the kernel does not say, as for one in another
    /// namespace.
    #[must_use]
    pub fn process(&self) -> Option<i32> {
        let peer = socket_peercred(self.stream.get_ref()).ok()?;
        Some(peer.pid.as_raw_nonzero().get())
    }

    /// Whether the other end is root or the same user.
    pub(super) fn is_trusted(&self) -> bool {
        let peer = socket_peercred(self.stream.get_ref());
        peer.is_ok_and(|peer| peer.uid.is_root() || peer.uid == geteuid())
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// It was refused, or the connection broke.
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

    /// How the mount is doing.
    ///
    /// # Errors
    /// The connection broke.
    pub fn status(&mut self) -> Result<Status, ControlError> {
        match self.ask(&Ask::List)? {
            Answer::Status(status) => Ok(status),
            other => Err(ControlError::Gibberish(format!("{other:?}"))),
        }
    }
}

/// A connection to each process that runs a disk. Sockets left behind by those that were killed do
/// not count.
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

/// The sockets and names of mounts in a directory, in their order.
fn sockets(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let mut all: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "sock")).collect();
    all.sort();
    all
}
