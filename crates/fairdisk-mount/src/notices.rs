//! What the kernel is told unasked: that what it has of a file is not what is in it any more.
//!
//! It does not listen before requests under way for that file have been answered, so this has a
//! thread of its own: whoever serves requests would wait for itself.

use fuser::{INodeNo, Notifier};
use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The way to tell the kernel something. The thread ends when it is dropped.
pub(crate) struct Notices(Arc<Shared>);

#[derive(Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    stale: BTreeSet<u64>,
    closed: bool,
}

impl Notices {
    /// Tells the kernel by `notifier`.
    pub(crate) fn start(notifier: Notifier) -> io::Result<Self> {
        let shared: Arc<Shared> = Arc::default();
        let own = Arc::clone(&shared);
        thread::Builder::new().name("fairdisk-notices".to_owned()).spawn(move || {
            while let Some(node) = own.next() {
                // If the kernel has nothing of it, all the better.
                let _ = notifier.inval_inode(INodeNo(node), 0, 0);
            }
        })?;
        Ok(Self(shared))
    }

    /// The kernel is to drop what it has of a file.
    pub(crate) fn stale(&self, node: u64) {
        self.0.lock().stale.insert(node);
        self.0.changed.notify_one();
    }
}

impl Drop for Notices {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.changed.notify_one();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next; `None` when there will be none.
    fn next(&self) -> Option<u64> {
        let idle = |waiting: &mut Waiting| waiting.stale.is_empty() && !waiting.closed;
        let waiting = self.changed.wait_while(self.lock(), idle);
        let mut waiting = waiting.unwrap_or_else(PoisonError::into_inner);
        if waiting.closed { None } else { waiting.stale.pop_first() }
    }
}
