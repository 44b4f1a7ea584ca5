//! The tree below the source: the state that every request works on.

use super::caller::Privileges;
use super::notices::Notices;
use super::readers::Readers;
use crate::data::buffers::Buffers;
use crate::data::dirty::Accounts;
use crate::data::extents::{Fallback, Layout};
use crate::data::gate::Gate;
use crate::data::held::Overflow;
use crate::files::directory::OpenDirectory;
use crate::files::freshness::Stamp;
use crate::files::handles::Handles;
use crate::files::nodes::Nodes;
use crate::files::open_file::{FileStates, OpenFile};
use crate::mounting::block_device::BlockDevice;
use crate::mounting::options::MountOptions;
use crate::sys::proc_fd::ProcFd;
use rustix::fd::AsFd;
use rustix::fs::{fstat, fstatvfs};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Counters of a mount.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MountCounts {
    /// The number of files that the kernel knows.
    pub nodes: u64,
    /// The number of bytes written and not yet on the disk.
    pub dirty_bytes: u64,
    /// The number of writes without a caller (memory maps), charged to the last user of their file.
    pub orphan_writes: u64,
    /// How often a writer was held back because its account was at its limit.
    pub held_back: u64,
}

/// Counters as they are updated.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) orphan_writes: AtomicU64,
    pub(crate) held_back: AtomicU64,
}

/// The tree below the source.
pub(crate) struct Tree {
    pub(crate) nodes: Nodes,
    pub(crate) files: Handles<OpenFile>,
    pub(crate) directories: Handles<OpenDirectory>,
    pub(crate) states: Arc<FileStates>,
    pub(crate) accounts: Arc<Accounts>,
    pub(crate) buffers: &'static Buffers,
    /// Where the data of writes is that wait and have no room in memory.
    pub(crate) overflow: Arc<Overflow>,
    pub(crate) proc_fd: ProcFd,
    pub(crate) privileges: Privileges,
    pub(crate) gate: Arc<dyn Gate>,
    pub(crate) options: MountOptions,
    pub(crate) readers: Readers,
    /// The sender of notifications to the kernel, once the mount exists.
    pub(crate) notices: OnceLock<Notices>,
    pub(crate) counts: Counts,
    /// The open file at which the next look for changes below begins.
    pub(crate) looked_up_to: AtomicUsize,
}

impl Tree {
    /// Opens the tree below `source`.
    pub(crate) fn new(
        source: &Path,
        options: MountOptions,
        gate: Arc<dyn Gate>,
    ) -> io::Result<Self> {
        let nodes = Nodes::new(source)?;
        let space = fstatvfs(nodes.root())?;
        let sectors = space.f_blocks.saturating_mul(space.f_frsize) / fairdisk_core::SECTOR_BYTES;
        let layout = Layout {
            start: BlockDevice::of(source)?.start,
            fallback: Fallback { sectors, inodes: space.f_files },
        };
        let accounts = Arc::new(Accounts::new(options.dirty_limit));
        let known = Arc::downgrade(&accounts);
        gate.asks_before_reuse(Box::new(move || {
            Some(known.upgrade()?.all().into_keys().collect())
        }));
        let states = Arc::new(FileStates::new(Arc::clone(&gate), layout));
        let overflow = Arc::new(Overflow::new(nodes.root(), &states.leaving)?);
        Ok(Self {
            nodes,
            files: Handles::default(),
            directories: Handles::default(),
            states,
            accounts,
            buffers: Buffers::shared(),
            overflow,
            proc_fd: ProcFd::new()?,
            privileges: Privileges::find(),
            gate,
            readers: Readers::new(options.readers.max(1)),
            notices: OnceLock::new(),
            options,
            counts: Counts::default(),
            looked_up_to: AtomicUsize::new(0),
        })
    }

    /// The open file with this handle.
    pub(crate) fn file(&self, number: u64) -> io::Result<Arc<OpenFile>> {
        self.files.get(number).ok_or_else(|| io::Error::from_raw_os_error(libc::EBADF))
    }

    /// The open directory with this handle.
    pub(crate) fn directory(&self, number: u64) -> io::Result<Arc<OpenDirectory>> {
        self.directories.get(number).ok_or_else(|| io::Error::from_raw_os_error(libc::EBADF))
    }

    /// Carries out a change of metadata, which alters the file's change time but leaves the
    /// kernel's cached data valid.
    pub(crate) fn touching<T>(
        &self,
        node: u64,
        fd: impl AsFd,
        with: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        let before = fstat(&fd);
        let done = with()?;
        if let (Ok(before), Ok(after)) = (before, fstat(&fd)) {
            self.states.touched(node, Stamp::of(&before), Stamp::of(&after));
        }
        Ok(done)
    }

    /// Notifies the kernel that its cached data of a file is stale.
    pub(crate) fn stale(&self, node: u64) {
        self.notices.get().into_iter().for_each(|notices| notices.stale(node));
    }

    /// The counters of the mount.
    pub(crate) fn counts(&self) -> MountCounts {
        MountCounts {
            nodes: self.nodes.len() as u64,
            dirty_bytes: self.accounts.bytes(),
            orphan_writes: self.counts.orphan_writes.load(Ordering::Relaxed),
            held_back: self.counts.held_back.load(Ordering::Relaxed),
        }
    }
}
