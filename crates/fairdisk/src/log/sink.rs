//! Where lines go.

use super::line::Line;
use crate::output::diagnose;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use tracing::Level;

/// Where the system takes lines for its log, be it a journal or a syslog daemon.
pub(super) const SYSTEM: &str = "/dev/log";
/// syslog(3): the facility for daemons.
const DAEMON: u8 = 3 << 3;

#[derive(Debug)]
pub(super) enum Sink {
    Stderr,
    File(File),
    /// The system's log; nothing if there is none.
    System(Option<UnixDatagram>),
}

impl Sink {
    pub(super) fn file(path: &Path) -> io::Result<Self> {
        OpenOptions::new().create(true).append(true).mode(0o640).open(path).map(Self::File)
    }

    pub(super) fn system() -> Self {
        Self::System(UnixDatagram::unbound().ok().filter(|socket| {
            // Whoever reads the log may be slow; we do not wait.
            socket.set_nonblocking(true).is_ok()
        }))
    }

    /// Why nobody takes lines for the system's log now, if so.
    pub(super) fn lacks_system() -> Option<io::Error> {
        UnixDatagram::unbound().and_then(|socket| socket.connect(SYSTEM)).err()
    }

    /// Writes a line. Nobody to tell it to is no failure.
    pub(super) fn write(&self, line: &Line, text: impl Fn(&Line) -> String) {
        match self {
            Self::Stderr => diagnose(&text(line)),
            Self::File(file) => {
                // In one piece: others may append, too.
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
                // By its name every time: the daemon behind it may have been started again.
                let _ = socket.send_to(said.as_bytes(), SYSTEM);
            }
        }
    }
}
