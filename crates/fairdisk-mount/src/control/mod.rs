//! Control of running mounts over a Unix socket: a client sends one line of JSON and receives one
//! line in return, or a recording.
//!
//! Everybody may query. Only root and the user who runs the mount may change anything, which is
//! checked by the peer credentials of the socket. The mounts on one disk share a socket, to which
//! the name of each mount leads.

mod alone;
mod claim;
mod client;
mod latency;
mod name;
mod protocol;
mod recording;
mod server;
mod settings;
mod waits;

pub(crate) use alone::Alone;
pub use claim::{Claim, ClaimError, Turn, claim};
pub use client::{Client, ControlError, running};
pub use latency::{FlushWaits, Latencies, Latency, LatencyCount};
pub(crate) use name::Name;
pub use protocol::{Answer, Ask, GroupEntry, QosEntry, Status, Tunable, Tunables, Wanted};
pub use server::{About, Choice, Server};
pub use settings::{Settings, namespace};
pub use waits::WaitEntry;

use crate::fingerprint::fingerprint;
use rustix::process::geteuid;
use std::borrow::Cow;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const OF_ROOT: &str = "/run/fairdisk";

/// The directory of our sockets: `/run/fairdisk` for root, otherwise in the user's run-time
/// directory or, without one, in the directory for temporary files.
#[must_use]
pub fn directory() -> PathBuf {
    let user = geteuid();
    if user.is_root() {
        return PathBuf::from(OF_ROOT);
    }
    match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(own) => PathBuf::from(own).join("fairdisk"),
        None => std::env::temp_dir().join(format!("fairdisk-{}", user.as_raw())),
    }
}

/// The directories in which to look for mounts: our own and root's. A directory that another user
/// may have set up is not trusted.
#[must_use]
pub fn directories() -> Vec<PathBuf> {
    let own = directory();
    let given = geteuid().is_root() || std::env::var_os("XDG_RUNTIME_DIR").is_some();
    let mut all = vec![PathBuf::from(OF_ROOT)];
    if own != all[0] && (given || is_own(&own)) {
        all.insert(0, own);
    }
    all
}

/// Whether the directory belongs to the user, and nobody else can create files in it.
fn is_own(directory: &Path) -> bool {
    fs::symlink_metadata(directory).is_ok_and(|found| {
        found.is_dir() && found.uid() == geteuid().as_raw() && found.mode() & 0o022 == 0
    })
}

/// The most bytes of a socket's name, before its extension. The path of a Unix socket is limited to
/// 107 bytes.
const NAME_BYTES_MAX: usize = 64;

/// The file name of the socket for a mount point: its path with `-` for `/`, and `~` before each
/// `-` and `~`. A name that is too long, or not UTF-8, is cut and made unique by a hash at its end.
#[must_use]
pub fn socket_name(mountpoint: &Path) -> String {
    let path = mountpoint.to_string_lossy();
    let mut name = path.trim_matches('/').replace('~', "~~").replace('-', "~-").replace('/', "-");
    let whole = matches!(path, Cow::Borrowed(_)) && name.len() <= NAME_BYTES_MAX;
    if !whole {
        let number = format!("~{:016x}", fingerprint(mountpoint.as_os_str().as_bytes()));
        let mut end = name.floor_char_boundary(NAME_BYTES_MAX - number.len());
        // A single trailing `~` would form an escape with the `~` of the hash.
        let tildes = name[..end].bytes().rev().take_while(|byte| *byte == b'~').count();
        end -= tildes % 2;
        name.replace_range(end.., &number);
    }
    name + ".sock"
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::ffi::OsStr;

    #[test]
    fn what_others_may_have_made_is_not_ours() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str, mode| {
            let path = place.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
            path
        };
        let (own, open) = (at("own", 0o755), at("open", 0o777));
        let link = place.path().join("link");
        std::os::unix::fs::symlink(&own, &link).unwrap();
        assert!(is_own(&own) && !is_own(&open) && !is_own(&link));
        assert!(!is_own(&place.path().join("none")));
        name::prepare(&own).unwrap();
        let refused = name::prepare(&link).unwrap_err().to_string();
        assert!(refused.contains("XDG_RUNTIME_DIR"), "{refused}");
        if geteuid().is_root() {
            std::os::unix::fs::chown(&own, Some(65534), None).unwrap();
            assert!(!is_own(&own) && name::prepare(&own).is_err());
        }
    }

    #[test]
    fn mount_points_have_sockets_of_their_own() {
        assert_eq!(socket_name(Path::new("/mnt/a")), "mnt-a.sock");
        assert_eq!(socket_name(Path::new("/mnt-a")), "mnt~-a.sock");
        let long = "/var/lib/kubelet/pods/0b1e58f6-6ad9-4d43-9f4e-0123456789ab/volumes/kubernetes";
        let names = ["/a-/b", "/a/-b", "/a~-b", "/a~/b", long].map(str::to_owned);
        let long = ["one", "two"].map(|end| format!("{long}/{end}"));
        let no_text = [0xfe, 0xff].map(|byte| PathBuf::from(OsStr::from_bytes(&[b'/', byte])));
        let many = ["/ä", "/~", "~", "-"].map(|part| PathBuf::from(part.repeat(200)));
        let all = names.into_iter().chain(long).map(PathBuf::from).chain(no_text).chain(many);
        let names: Vec<String> = all.map(|path| socket_name(&path)).collect();
        assert_eq!(BTreeSet::from_iter(&names).len(), names.len(), "{names:?}");
        let longest = NAME_BYTES_MAX + ".sock".len();
        assert!(names.iter().all(|name| name.len() <= longest), "{names:?}");
    }
}
