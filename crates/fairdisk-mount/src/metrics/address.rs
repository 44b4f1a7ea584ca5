//! The addresses at which metrics are served: a TCP port or a Unix socket.

use crate::visitors::{Door, Visitor};
use rustix::net::shutdown;
use std::fmt;
use std::fs::{self, Permissions};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// An address to listen at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// An IP address and a port.
    Tcp(SocketAddr),
    /// The path of a Unix socket.
    Unix(PathBuf),
}

/// The error for a text that is not an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressError;

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an address and port such as 127.0.0.1:9470 or [::1]:9470, nor unix:/PATH")
    }
}

impl std::error::Error for AddressError {}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        match text.strip_prefix("unix:") {
            Some(path) if path.starts_with('/') => Ok(Self::Unix(PathBuf::from(path))),
            Some(_) => Err(AddressError),
            None => text.parse().map(Self::Tcp).map_err(|_| AddressError),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl Address {
    /// Begins to listen. Clients that connect wait until they are served.
    ///
    /// # Errors
    /// The address is in use, not local, or not permitted.
    pub fn listen(&self) -> io::Result<Listener> {
        match self {
            Self::Tcp(address) => Ok(Listener::on(Socket::Tcp(TcpListener::bind(address)?))),
            Self::Unix(path) => {
                take_away_left_over(path)?;
                let listener = UnixListener::bind(path)?;
                // Everybody may read metrics, as everybody may query the control socket.
                fs::set_permissions(path, Permissions::from_mode(0o666))?;
                Ok(Listener::on(Socket::Unix(listener, path.clone())))
            }
        }
    }
}

/// Removes a socket at which nobody listens, left over by a process that has ended.
///
/// # Errors
/// The socket is in use, or the path is something else.
fn take_away_left_over(path: &Path) -> io::Result<()> {
    let Ok(there) = fs::symlink_metadata(path) else { return Ok(()) };
    if !there.file_type().is_socket() || UnixStream::connect(path).is_ok() {
        return Err(io::ErrorKind::AddrInUse.into());
    }
    fs::remove_file(path)
}

/// A listening socket. A Unix socket is removed from the file system when it ends.
#[derive(Debug)]
pub struct Listener {
    socket: Socket,
    /// Whether the Unix socket has been removed; its path may belong to another process by now.
    is_gone: AtomicBool,
}

#[derive(Debug)]
enum Socket {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

impl Listener {
    const fn on(socket: Socket) -> Self {
        Self { socket, is_gone: AtomicBool::new(false) }
    }

    fn take_away(&self) {
        if let Socket::Unix(_, path) = &self.socket
            && !self.is_gone.swap(true, Ordering::Relaxed)
        {
            let _ = fs::remove_file(path);
        }
    }

    /// The address, with the port that the system has chosen if none was given.
    #[must_use]
    pub fn address(&self) -> Option<Address> {
        match &self.socket {
            Socket::Tcp(listener) => listener.local_addr().ok().map(Address::Tcp),
            Socket::Unix(_, path) => Some(Address::Unix(path.clone())),
        }
    }
}

impl Door for Listener {
    type Visitor = Stream;

    fn accept(&self) -> io::Result<Stream> {
        match &self.socket {
            Socket::Tcp(listener) => listener.accept().map(|(stream, _)| Stream::Tcp(stream)),
            Socket::Unix(listener, _) => listener.accept().map(|(stream, _)| Stream::Unix(stream)),
        }
    }

    fn close(&self) {
        // Removed now, and not only once the last visitor has gone, which may take long.
        self.take_away();
        match &self.socket {
            Socket::Tcp(listener) => drop(shutdown(listener, rustix::net::Shutdown::Both)),
            Socket::Unix(listener, _) => listener.close(),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.take_away();
    }
}

/// A connection with a client.
#[derive(Debug)]
pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    /// Limits the time of each read and write.
    pub(super) fn limit(&self, span: Duration) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => {
                stream.set_read_timeout(Some(span))?;
                stream.set_write_timeout(Some(span))
            }
            Self::Unix(stream) => {
                stream.set_read_timeout(Some(span))?;
                stream.set_write_timeout(Some(span))
            }
        }
    }
}

impl Visitor for Stream {
    fn user(&self) -> Option<u32> {
        match self {
            Self::Tcp(_) => None,
            Self::Unix(stream) => stream.user(),
        }
    }

    fn hang_up(&self, how: Shutdown) {
        match self {
            Self::Tcp(stream) => drop(stream.shutdown(how)),
            Self::Unix(stream) => stream.hang_up(how),
        }
    }
}

impl Read for &Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => (&*stream).read(buffer),
            Stream::Unix(stream) => (&*stream).read(buffer),
        }
    }
}

impl Write for &Stream {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => (&*stream).write(data),
            Stream::Unix(stream) => (&*stream).write(data),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_they_are_shown() {
        for text in ["127.0.0.1:9470", "[::1]:9470", "0.0.0.0:0", "unix:/run/a b.sock"] {
            assert_eq!(text.parse::<Address>().map(|it| it.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "9470", ":9470", "localhost", "127.0.0.1", "::1:9470", "1.2.3.4:70000"] {
            assert_eq!(text.parse::<Address>(), Err(AddressError), "{text}");
        }
        for text in ["unix:", "unix:relative", "http://127.0.0.1:9470"] {
            assert_eq!(text.parse::<Address>(), Err(AddressError), "{text}");
        }
    }

    #[test]
    fn a_socket_left_behind_is_replaced_and_anything_else_is_not() {
        let scratch = tempfile::tempdir().expect("a directory");
        let path = scratch.path().join("socket");
        drop(UnixListener::bind(&path).expect("a socket"));
        let address = Address::Unix(path.clone());
        let listener = address.listen().expect("nobody answers there");
        let busy = address.listen().expect_err("somebody does");
        assert_eq!(busy.kind(), io::ErrorKind::AddrInUse);
        listener.close();
        assert!(!path.exists());
        let next = address.listen().expect("nobody does any more");
        drop(listener);
        assert!(path.exists(), "another's by now");
        drop(next);
        assert!(!path.exists());
        fs::write(&path, "a file").expect("written");
        assert!(address.listen().is_err());
        assert_eq!(fs::read_to_string(&path).expect("it is still there"), "a file");
    }
}
