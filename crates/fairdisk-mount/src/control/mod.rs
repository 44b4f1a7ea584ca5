//! Looking at a running mount, and changing it: one line of JSON asks, one line answers, over a
//! Unix socket.
//!
//! Everybody may look. Only root and whoever runs the mount may change anything; the kernel says
//! who is at the other end. The mounts on one disk have one socket, and each a name that leads to
//! it.

mod claim;
mod client;
mod name;
mod protocol;
mod server;
mod settings;

pub use claim::{Claim, ClaimError, Turn, claim};
pub use client::{Client, ControlError, running};
pub(crate) use name::Name;
pub use protocol::{Answer, Ask, GroupEntry, LatencyCount, QosEntry, Status, Wanted};
pub use server::{About, Server};
pub use settings::{Settings, namespace};

use std::path::{Path, PathBuf};

/// Where sockets are: `/run/fairdisk` for root, else in the user's own run-time directory, or in a
/// directory for temporary files if there is none.
#[must_use]
pub fn directory() -> PathBuf {
    let user = rustix::process::geteuid();
    if user.is_root() {
        return PathBuf::from("/run/fairdisk");
    }
    match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(own) => PathBuf::from(own).join("fairdisk"),
        None => std::env::temp_dir().join(format!("fairdisk-{}", user.as_raw())),
    }
}

/// The name of the socket of a mount point: its path with `-` for `/`, and `--` for `-`.
#[must_use]
pub fn socket_name(mountpoint: &Path) -> String {
    let path = mountpoint.to_string_lossy();
    let name = path.trim_matches('/').replace('-', "--").replace('/', "-");
    // A path of a socket has room for 107 bytes.
    let end = name.char_indices().map(|(at, _)| at).find(|at| *at >= 64).unwrap_or(name.len());
    format!("{}.sock", &name[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_have_sockets_of_their_own() {
        assert_eq!(socket_name(Path::new("/mnt/a")), "mnt-a.sock");
        assert_eq!(socket_name(Path::new("/mnt-a")), "mnt--a.sock");
        assert!(socket_name(Path::new(&"/ä".repeat(200))).len() < 75);
    }
}
