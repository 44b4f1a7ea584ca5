//! Notification of the service manager: a datagram to the socket that `$NOTIFY_SOCKET` names, as
//! described in sd_notify(3).

use std::env;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Sends `state`, such as `READY=1`, to the service manager, if one started us and wants to know.
/// Errors are ignored: notification is optional.
pub(crate) fn tell(state: &str) {
    let Some(name) = env::var_os("NOTIFY_SOCKET") else { return };
    // A leading `@` denotes an abstract socket, which has no place in the file system.
    let address = match name.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(&name),
    };
    let socket = UnixDatagram::unbound();
    if let (Ok(address), Ok(socket)) = (address, socket) {
        let _ = socket.send_to_addr(state.as_bytes(), &address);
    }
}
