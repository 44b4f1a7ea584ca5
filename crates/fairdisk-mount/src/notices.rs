//! What the kernel is told unasked: that what it has of a file is not what is in it any more.
//!
//! It does not listen before requests under way for that file have been answered. So this has
//! threads of its own, and for each file that it waits for another one: neither whoever serves
//! requests nor what is told of other files waits.
//!
//! Such a thread cannot be killed meanwhile, and what it has open stays open. Were that what
//! requests come by, a process that is killed would leave programs waiting for ever. So these
//! threads have a way to the kernel that nothing else comes by, and descriptors of their own. A
//! reader that asks again before such a thread goes on waits for the guardian, as nobody takes its
//! request.

use crate::sys::{descriptors, fuse_device};
use rustix::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, IntoRawFd as _, OwnedFd};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

/// Files the kernel is told of at once: with so many that are being read and changed, what is told
/// of others waits for one of them.
const THREADS_MAX: usize = 64;

/// Threads that wait for the next file; more of them end.
const IDLE_MAX: usize = 2;

/// The way to tell the kernel something. The threads end when it is dropped.
pub(crate) struct Notices(Arc<Shared>);

struct Shared {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    stale: BTreeSet<u64>,
    /// Those the kernel is being told of, and whether it is to be told again.
    told: BTreeMap<u64, bool>,
    threads: usize,
    idle: usize,
    closed: bool,
}

impl Notices {
    /// Tells the kernel's side of the mount that `session` serves.
    pub(crate) fn start(session: BorrowedFd<'_>) -> io::Result<Self> {
        let waiting = Mutex::new(Waiting { threads: 1, idle: 1, ..Waiting::default() });
        let shared = Arc::new(Shared { waiting, changed: Condvar::new() });
        let device = fuse_device::another(session)?;
        let number = device.as_raw_fd();
        let (tell, told) = mpsc::channel();
        let own = Arc::clone(&shared);
        builder().spawn(move || {
            // SAFETY: this thread and those that it starts use nothing but the device.
            let apart = unsafe { descriptors::keep_only(BorrowedFd::borrow_raw(number)) };
            // SAFETY: the number is that of the device, and ours: whoever started this thread
            // closes or forgets the one it has.
            let device = unsafe { OwnedFd::from_raw_fd(number) };
            let _ = tell.send(apart);
            own.work(&Arc::new(device));
        })?;
        if told.recv() != Ok(true) {
            let _ = device.into_raw_fd();
        }
        Ok(Self(shared))
    }

    /// The kernel is to drop what it has of a file.
    pub(crate) fn stale(&self, node: u64) {
        let mut waiting = self.0.lock();
        if let Some(again) = waiting.told.get_mut(&node) {
            *again = true;
        } else {
            waiting.stale.insert(node);
            self.0.changed.notify_one();
        }
    }
}

impl Drop for Notices {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.changed.notify_all();
    }
}

fn builder() -> thread::Builder {
    thread::Builder::new().name("fairdisk-notices".to_owned())
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells of one file after another, until there will be no more or others do.
    fn work(self: &Arc<Self>, device: &Arc<OwnedFd>) {
        while let Some(node) = self.next(device) {
            // If the kernel has nothing of it, all the better.
            let _ = fuse_device::invalidate(device, node);
            let mut waiting = self.lock();
            if waiting.told.remove(&node) == Some(true) {
                waiting.stale.insert(node);
                self.changed.notify_one();
            }
            if waiting.idle >= IDLE_MAX {
                waiting.threads -= 1;
                return;
            }
            waiting.idle += 1;
        }
    }

    /// Waits for the next; `None` when there will be none. Then somebody else waits.
    fn next(self: &Arc<Self>, device: &Arc<OwnedFd>) -> Option<u64> {
        let idle = |waiting: &mut Waiting| waiting.stale.is_empty() && !waiting.closed;
        let waiting = self.changed.wait_while(self.lock(), idle);
        let mut waiting = waiting.unwrap_or_else(PoisonError::into_inner);
        if waiting.closed {
            return None;
        }
        let node = waiting.stale.pop_first()?;
        waiting.told.insert(node, false);
        waiting.idle -= 1;
        if waiting.idle == 0 && waiting.threads < THREADS_MAX {
            let (own, device) = (Arc::clone(self), Arc::clone(device));
            if builder().spawn(move || own.work(&device)).is_ok() {
                waiting.threads += 1;
                waiting.idle += 1;
            }
        }
        Some(node)
    }
}
