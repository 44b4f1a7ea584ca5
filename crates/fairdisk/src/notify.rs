//! Telling the service manager how we are: a datagram to the socket named in the environment, as
//! sd_notify(3) describes.

use std::env;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Tells `state`, such as `READY=1`, to whoever started us as a service that tells. Nobody to tell
/// it to is no failure.
pub(crate) fn tell(state: &str) {
    let Some(name) = env::var_os("NOTIFY_SOCKET") else { return };
    // A name that begins with `@` is none of the file system's.
    let address = match name.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(&name),
    };
    let socket = UnixDatagram::unbound();
    if let (Ok(address), Ok(socket)) = (address, socket) {
        let _ = socket.send_to_addr(state.as_bytes(), &address);
    }
}
