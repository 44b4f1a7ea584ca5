//! Files while they are open.

use crate::dirty::Ranges;
use crate::extents::{Extents, Layout};
use crate::freshness::{Closed, Freshness, Stamp};
use crate::gate::Gate;
use crate::sys::proc_fd::ProcFd;
use rustix::fd::OwnedFd;
use rustix::fs::{OFlags, fstat};
use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// What offset and length must be a multiple of to bypass the page cache below; buffers are
/// aligned to more.
const DIRECT_ALIGN: u64 = 512;

/// What all who have a file open share.
pub(crate) struct FileState {
    pub(crate) node: u64,
    last_user: AtomicU32,
    extents: Mutex<Extents>,
    ranges: Mutex<Ranges>,
    /// Errors of write-out so far, and the last one.
    errors: Mutex<(u32, i32)>,
    freshness: Mutex<Freshness>,
    home: Arc<FileStates>,
}

/// The states of all open files.
pub(crate) struct FileStates {
    gate: Arc<dyn Gate>,
    layout: Layout,
    states: Mutex<HashMap<u64, Weak<FileState>>>,
    closed: Mutex<Closed>,
}

impl FileStates {
    /// None open.
    pub(crate) fn new(gate: Arc<dyn Gate>, layout: Layout) -> Self {
        Self { gate, layout, states: Mutex::default(), closed: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Weak<FileState>>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn closed(&self) -> MutexGuard<'_, Closed> {
        self.closed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state of a file that is being opened.
    pub(crate) fn of(self: &Arc<Self>, node: u64, inode: u64) -> Arc<FileState> {
        let mut states = self.lock();
        if let Some(state) = states.get(&node).and_then(Weak::upgrade) {
            return state;
        }
        let stamp = self.closed().take(node);
        let state = Arc::new(FileState {
            node,
            last_user: AtomicU32::new(0),
            extents: Mutex::new(Extents::new(inode, self.layout)),
            ranges: Mutex::default(),
            errors: Mutex::default(),
            freshness: Mutex::new(Freshness::new(stamp)),
            home: Arc::clone(self),
        });
        states.insert(node, Arc::downgrade(&state));
        state
    }

    /// The state of a file if it is open.
    pub(crate) fn find(&self, node: u64) -> Option<Arc<FileState>> {
        self.lock().get(&node)?.upgrade()
    }
}

impl Drop for FileState {
    fn drop(&mut self) {
        let mut states = self.home.lock();
        if states.get(&self.node).is_some_and(|state| state.strong_count() == 0) {
            states.remove(&self.node);
            let stamp = self.freshness().stamp();
            stamp.into_iter().for_each(|stamp| self.home.closed().remember(self.node, stamp));
            self.home.gate.done_with(self.node);
        }
    }
}

impl FileState {
    /// Where on the device its blocks are.
    pub(crate) fn extents(&self) -> MutexGuard<'_, Extents> {
        self.extents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether what the kernel has of it is still right.
    pub(crate) fn freshness(&self) -> MutexGuard<'_, Freshness> {
        self.freshness.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is on its way to the disk.
    pub(crate) fn ranges(&self) -> MutexGuard<'_, Ranges> {
        self.ranges.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody uses the file: what the kernel does here for nobody is on that one's account.
    pub(crate) fn used_by(&self, caller: u32) {
        if caller != 0 && self.last_user.swap(caller, Ordering::Relaxed) != caller {
            self.home.gate.uses(caller, self.node);
        }
    }

    /// Write-out failed: everyone who has the file open will be told once.
    pub(crate) fn failed(&self, error: &io::Error) {
        let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        *errors = (errors.0.wrapping_add(1), error.raw_os_error().unwrap_or(libc::EIO));
    }

    fn errors(&self) -> (u32, i32) {
        *self.errors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open file.
pub(crate) struct OpenFile {
    pub(crate) state: Arc<FileState>,
    pub(crate) fd: OwnedFd,
    access: OFlags,
    direct: OnceLock<Option<OwnedFd>>,
    /// Errors its opener was told of, or that were before its time.
    told: AtomicU32,
}

impl OpenFile {
    /// `fd` opened with `access`.
    pub(crate) fn new(state: Arc<FileState>, fd: OwnedFd, access: OFlags) -> Self {
        let told = AtomicU32::new(state.errors().0);
        Self { state, fd, access, direct: OnceLock::new(), told }
    }

    /// Whether there may be a way past the page cache for `len` bytes at `offset`.
    pub(crate) fn may_be_direct(&self, offset: u64, len: u64) -> bool {
        let refused = self.direct.get().is_some_and(Option::is_none);
        !refused && (offset | len).is_multiple_of(DIRECT_ALIGN)
    }

    /// The way past the page cache for `len` bytes at `offset`, if there is one.
    pub(crate) fn direct(&self, proc_fd: &ProcFd, offset: u64, len: u64) -> Option<&OwnedFd> {
        if !self.may_be_direct(offset, len) {
            return None;
        }
        let open = || proc_fd.reopen(&self.fd, self.access | OFlags::DIRECT).ok();
        self.direct.get_or_init(open).as_ref()
    }

    /// Changes the file: what the change does to its time is nobody else's doing.
    pub(crate) fn change<T>(&self, with: impl FnOnce() -> T) -> T {
        self.state.freshness().begin();
        let done = with();
        let now = fstat(&self.fd).ok().map(|stat| Stamp::of(&stat));
        self.state.freshness().end(now);
        done
    }

    /// An error of write-out its opener has not heard of.
    pub(crate) fn take_error(&self) -> io::Result<()> {
        let (count, errno) = self.state.errors();
        if self.told.swap(count, Ordering::Relaxed) == count {
            Ok(())
        } else {
            Err(io::Error::from_raw_os_error(errno))
        }
    }
}
