//! How a tree is mounted.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How a tree is mounted. Start from the default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MountOptions {
    /// Nothing may be changed through the mount.
    pub read_only: bool,
    /// No program is run from there.
    pub no_exec: bool,
    /// Other users than the one who mounts may look in.
    pub allow_other: bool,
    /// Honour set-user-id bits and device files, where the source's own mount does.
    pub allow_suid: bool,
    /// Bytes an account may have written and not yet on the disk before its writers are held back.
    pub dirty_limit: u64,
    /// Threads that take requests from the kernel.
    pub readers: usize,
    /// How far the kernel may read ahead.
    pub read_ahead_kib: u32,
    /// For how long the kernel may use names and attributes without asking again.
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
            // As many as perform what they took, and one that takes the next.
            readers: 5,
            read_ahead_kib: 512,
            ttl: Duration::from_secs(1),
        }
    }
}
