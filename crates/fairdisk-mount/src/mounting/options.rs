//! The options of a mount.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The options of a mount. Begin with the default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MountOptions {
    /// Whether nothing may be changed through the mount.
    pub read_only: bool,
    /// Whether no program may be executed from the mount.
    pub no_exec: bool,
    /// Whether other users than the one who mounts have access.
    pub allow_other: bool,
    /// Whether set-user-id bits and device files are honoured, where the mount of the source
    /// honours them.
    pub allow_suid: bool,
    /// The limit on dirty bytes per account, beyond which writers are held back.
    pub dirty_limit: u64,
    /// The number of threads that take requests from the kernel.
    pub readers: usize,
    /// The limit on the kernel's read-ahead in KiB.
    pub read_ahead_kib: u32,
    /// How long the kernel may cache names and attributes.
    pub ttl: Duration,
}

impl Default for MountOptions {
    fn default() -> Self {
        Self {
            read_only: false,
            no_exec: false,
            allow_other: false,
            allow_suid: false,
            dirty_limit: 32 << 20,
            // Four that carry out what they took, and one that takes the next request.
            readers: 5,
            read_ahead_kib: 512,
            ttl: Duration::from_secs(1),
        }
    }
}
