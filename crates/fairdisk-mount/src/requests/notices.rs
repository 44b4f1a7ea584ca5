//! Notifications to the kernel that its cached data of a file is stale.
//!
//! The kernel processes such a notification only after it has received the replies to requests
//! under way for the same file. For this reason notifications have threads of their own, one for
//! each file waited for, so that neither requests nor notifications about other files are delayed.
//!
//! A thread that waits in such a notification cannot be killed, and its descriptors stay open. If
//! they included the connection that serves requests, then after the process is killed programs
//! would wait for ever. So these threads have a private descriptor table, with a connection to the
//! kernel that is used for nothing else. Their panics are logged by another thread. A reader that
//! repeats its request before such a thread has returned waits for the guardian, as nobody serves
//! it.

use crate::sys::{descriptors, fuse_device};
use rustix::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, IntoRawFd as _, OwnedFd};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

/// The most concurrent notifications. If as many files are waited for, notifications about others
/// are delayed.
const THREADS_MAX: usize = 64;

/// The most threads that wait for the next notification; further ones end.
const IDLE_MAX: usize = 2;

/// The sender of notifications. Its threads end when it is dropped.
pub(crate) struct Notices(Arc<Shared>);

struct Shared {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    stale: BTreeSet<u64>,
    /// The files being notified, and whether each has become stale again meanwhile.
    told: BTreeMap<u64, bool>,
    threads: usize,
    idle: usize,
    closed: bool,
}

impl Notices {
    /// Starts sending notifications to the mount that `session` serves.
    pub(crate) fn start(session: BorrowedFd<'_>) -> io::Result<Self> {
        let waiting = Mutex::new(Waiting { threads: 1, idle: 1, ..Waiting::default() });
        let shared = Arc::new(Shared { waiting, changed: Condvar::new() });
        let device = fuse_device::another(session)?;
        let number = device.as_raw_fd();
        let (tell, told) = mpsc::channel();
        let own = Arc::clone(&shared);
        builder().spawn(move || {
            // SAFETY: this thread, and the threads it starts, use no descriptor but the device.
            let apart = unsafe { descriptors::keep_only(BorrowedFd::borrow_raw(number)) };
            // SAFETY: the number denotes the device and belongs to this thread: the thread that
            // started this one closes or forgets its own.
            let device = unsafe { OwnedFd::from_raw_fd(number) };
            let _ = tell.send(apart);
            own.work(&Arc::new(device));
        })?;
        if told.recv() != Ok(true) {
            let _ = device.into_raw_fd();
        }
        Ok(Self(shared))
    }

    /// Notifies the kernel that its cached data of a file is stale.
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

    /// Sends notifications, one after the other, until the sender is dropped or enough other
    /// threads are idle.
    fn work(self: &Arc<Self>, device: &Arc<OwnedFd>) {
        while let Some(node) = self.next(device) {
            // An error means that the kernel has nothing cached of the file.
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

    /// Waits for the next file, and starts another thread if none is idle; `None` once the sender
    /// is dropped.
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
