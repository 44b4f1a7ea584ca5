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
    patience: Option<Duration>,
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
    /// There was no answer in the time that the client waits.
    Silent {
        /// The number of the daemon's process, as far as it is known.
        process: Option<i32>,
        /// How long the client has waited.
        patience: Duration,
    },
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
            Self::Silent { process, patience } => {
                let seconds = patience.as_secs_f64();
                f.write_str("the process of the mount")?;
                process.map_or(Ok(()), |process| write!(f, " ({process})"))?;
                write!(f, " has not answered for {seconds} s; it may be stopped or hang")
            }
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
        Ok(Self { path: socket.to_owned(), stream: BufReader::new(stream), patience: None })
    }

    /// Limits the time of each read and write. After an answer that takes longer the connection is
    /// of no more use.
    ///
    /// # Errors
    /// The system refuses.
    pub fn wait_no_longer_than(&mut self, patience: Duration) -> io::Result<()> {
        self.wait(Some(patience))
    }

    fn wait(&mut self, patience: Option<Duration>) -> io::Result<()> {
        self.patience = patience;
        let stream = self.stream.get_ref();
        stream.set_read_timeout(patience)?;
        stream.set_write_timeout(patience)
    }

    /// Has the daemon say within `patience` that it is there, for requests that may take any time.
    ///
    /// # Errors
    /// It does not, or the connection is lost.
    pub fn is_there_within(&mut self, patience: Duration) -> Result<(), ControlError> {
        self.wait_no_longer_than(patience).map_err(ControlError::Lost)?;
        self.ask(&Ask::Mounts)?;
        self.wait(None).map_err(ControlError::Lost)
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

    /// The reason for which a read or write has failed.
    fn lost(&self, error: io::Error) -> ControlError {
        match (error.kind(), self.patience) {
            (io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut, Some(patience)) => {
                ControlError::Silent { process: self.process(), patience }
            }
            _ => ControlError::Lost(error),
        }
    }

    /// Sends a request and waits for the answer.
    ///
    /// # Errors
    /// The request is refused or fails, the answer takes too long, or the connection is lost.
    pub fn ask(&mut self, ask: &Ask) -> Result<Answer, ControlError> {
        let gibberish = |error: serde_json::Error| ControlError::Gibberish(error.to_string());
        let mut line = serde_json::to_string(ask).map_err(gibberish)?;
        line.push('\n');
        let sent = self.stream.get_mut().write_all(line.as_bytes());
        sent.map_err(|error| self.lost(error))?;
        let mut answer = String::new();
        let read = self.stream.read_line(&mut answer);
        if read.map_err(|error| self.lost(error))? == 0 {
            return Err(ControlError::Lost(io::ErrorKind::UnexpectedEof.into()));
        }
        match serde_json::from_str(&answer) {
            Ok(Answer::Error(why)) => Err(ControlError::Refused(why)),
            Ok(Answer::Failed(why)) => Err(ControlError::Failed(why)),
            Ok(answer) => Ok(answer),
            Err(_) => Err(ControlError::Gibberish(answer.trim().chars().take(80).collect())),
        }
    }

    /// Has the disk recorded for so many milliseconds. The recording is what can be read from the
    /// result; it ends early if the socket, which is returned as well, is shut down for writing.
    ///
    /// # Errors
    /// The request is refused or fails, or the connection is lost.
    pub fn record(mut self, ms: u64) -> Result<(impl BufRead, UnixStream), ControlError> {
        match self.ask(&Ask::Record { ms })? {
            Answer::Recording => {}
            other => return Err(ControlError::Gibberish(format!("{other:?}"))),
        }
        self.wait(None).map_err(ControlError::Lost)?;
        let socket = self.stream.get_ref().try_clone().map_err(ControlError::Lost)?;
        Ok((self.stream, socket))
    }

    /// The status of the disk.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn status(&mut self) -> Result<Status, ControlError> {
        match self.ask(&Ask::List)? {
            Answer::Status(status) => Ok(*status),
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    /// As a stopped process does, whose connections the kernel accepts all the same.
    #[test]
    fn who_never_answers_is_named_after_a_while() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("socket");
        let _listener = UnixListener::bind(&path).unwrap();
        let patience = Duration::from_millis(20);
        let mut client = Client::connect(&path).unwrap();
        let error = client.is_there_within(patience).unwrap_err().to_string();
        let own = std::process::id();
        let says = format!("the process of the mount ({own}) has not answered for 0.02 s");
        assert!(error.starts_with(&says), "{error}");
        let mut client = Client::connect(&path).unwrap();
        client.wait_no_longer_than(patience).unwrap();
        assert!(matches!(client.status(), Err(ControlError::Silent { .. })));
    }
}
