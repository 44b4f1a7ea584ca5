//! Destinations of log lines: standard error, a file or the system log.

use super::line::Line;
use crate::output::diagnose;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use tracing::Level;

/// The socket of the system log, be it systemd's journal or a syslog daemon.
pub(super) const SYSTEM: &str = "/dev/log";
/// The syslog facility LOG_DAEMON (syslog(3)), in the facility's position in a priority.
const DAEMON: u8 = 3 << 3;

#[derive(Debug)]
pub(super) enum Sink {
    Stderr,
    File(File),
    /// The system log; `None` if no socket could be made.
    System(Option<UnixDatagram>),
}

impl Sink {
    pub(super) fn file(path: &Path) -> io::Result<Self> {
        OpenOptions::new().create(true).append(true).mode(0o640).open(path).map(Self::File)
    }

    pub(super) fn system() -> Self {
        Self::System(UnixDatagram::unbound().ok().filter(|socket| {
            // The log daemon may be slow to read. A mount must not wait for it.
            socket.set_nonblocking(true).is_ok()
        }))
    }

    /// The error that connecting to the system log gives now, if any.
    pub(super) fn lacks_system() -> Option<io::Error> {
        UnixDatagram::unbound().and_then(|socket| socket.connect(SYSTEM)).err()
    }

    /// Writes a log line. Errors are ignored: a mount that cannot log still works.
    pub(super) fn write(&self, line: &Line, text: impl Fn(&Line) -> String) {
        match self {
            Self::Stderr => diagnose(&text(line)),
            Self::File(file) => {
                // One write, since other processes may append to the same file.
                let _ = (&mut &*file).write_all(format!("{}\n", text(line)).as_bytes());
            }
            Self::System(None) => {}
            Self::System(Some(socket)) => {
                let severity = match line.level {
                    Level::ERROR => 3,
                    Level::WARN => 4,
                    Level::INFO => 6,
                    _ => 7,
                };
                let (priority, process) = (DAEMON | severity, std::process::id());
                let said = format!("<{priority}>fairdisk[{process}]: {}", line.without_time());
                // Addressed by path each time, because the log daemon may have restarted and made a
                // new socket.
                let _ = socket.send_to(said.as_bytes(), SYSTEM);
            }
        }
    }
}
