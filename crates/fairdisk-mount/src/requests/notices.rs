//! Notices to the kernel that its cached data of a file is stale.
//!
//! The kernel carries out such a notice only after it has received the answers to the reads under
//! way for the same pages. For this reason notices have threads of their own, several for a file,
//! so that neither requests nor notices about other pages are delayed.
//!
//! A thread that waits in such a notice cannot be killed, and its descriptors stay open. If they
//! included the connection that serves requests, then after the process is killed programs would
//! wait for ever. So these threads have a private descriptor table, with a connection to the kernel
//! that is used for nothing else. Whatever waits for a notice is therefore answered by another
//! thread. Their panics are logged by another thread. A reader that repeats its request before such
//! a thread has returned waits for the guardian, as nobody serves it.

use super::wanted::BACKGROUND_MAX;
use crate::data::dirty::Then;
use crate::files::cached::WHOLE;
use crate::sys::{descriptors, fuse_device};
use rustix::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, IntoRawFd as _, OwnedFd};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

/// The most concurrent notices. If as many are waited for, others are delayed.
const THREADS_MAX: usize = 64;

/// The most concurrent notices about one file.
const THREADS_PER_FILE: usize = 16;

/// The most threads that wait for the next notice; further ones end.
const IDLE_MAX: usize = 2;

/// The most answers that wait for notices. The kernel sends no further background request once
/// [`BACKGROUND_MAX`] are unanswered. A notice may wait for a read that is still to be sent, so
/// some room has to be left. Beyond this number the answer is given first and the notice follows.
const WITHHELD_MAX: usize = BACKGROUND_MAX as usize / 2;

/// The sender of notices. Its threads end when it is dropped.
pub(crate) struct Notices(Arc<Shared>);

struct Shared {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    /// The thread that runs what follows from a notice.
    answers: mpsc::Sender<Vec<Then>>,
}

/// A notice: the kernel is to drop a range of a file.
struct Notice {
    range: Range<u64>,
    then: Vec<Then>,
    /// How many of `then` are answers.
    answers: usize,
}

/// The notices about one file.
#[derive(Default)]
struct File {
    queued: VecDeque<Notice>,
    under_way: usize,
}

impl File {
    fn is_ready(&self) -> bool {
        !self.queued.is_empty() && self.under_way < THREADS_PER_FILE
    }
}

#[derive(Default)]
struct Waiting {
    files: BTreeMap<u64, File>,
    /// The files that have a notice to send, each once.
    ready: VecDeque<u64>,
    withheld: usize,
    threads: usize,
    idle: usize,
    closed: bool,
}

impl Waiting {
    fn push(&mut self, node: u64, notice: Notice) {
        let file = self.files.entry(node).or_default();
        let was_ready = file.is_ready();
        match file.queued.back_mut() {
            // Not sent yet, so it covers this one, too.
            Some(last) if last.range == WHOLE || last.range == notice.range => {
                last.then.extend(notice.then);
                last.answers += notice.answers;
            }
            _ => file.queued.push_back(notice),
        }
        if !was_ready && file.is_ready() {
            self.ready.push_back(node);
        }
    }

    fn pop(&mut self) -> Option<(u64, Notice)> {
        let node = self.ready.pop_front()?;
        let file = self.files.get_mut(&node).expect("a file that is ready has notices");
        let notice = file.queued.pop_front().expect("a file that is ready has notices");
        file.under_way += 1;
        if file.is_ready() {
            self.ready.push_back(node);
        }
        Some((node, notice))
    }

    fn sent(&mut self, node: u64, answers: usize) {
        self.withheld -= answers;
        let file = self.files.get_mut(&node).expect("its notice is under way");
        let was_ready = file.is_ready();
        file.under_way -= 1;
        if !was_ready && file.is_ready() {
            self.ready.push_back(node);
        }
        if file.queued.is_empty() && file.under_way == 0 {
            self.files.remove(&node);
        }
    }
}

impl Notices {
    /// Starts sending notices to the mount that `session` serves.
    pub(crate) fn start(session: BorrowedFd<'_>) -> io::Result<Self> {
        let waiting = Mutex::new(Waiting { threads: 1, idle: 1, ..Waiting::default() });
        let (answers, to_answer) = mpsc::channel();
        thread::Builder::new().name("fairdisk-answers".to_owned()).spawn(move || {
            to_answer.into_iter().flat_map(Vec::into_iter).for_each(|then: Then| then());
        })?;
        let shared = Arc::new(Shared { waiting, changed: Condvar::new(), answers });
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

    /// Has the kernel drop a range of a file, and then runs `then`. Runs `answer` after that, too,
    /// or at once if too many answers wait already.
    pub(crate) fn drop_pages(&self, node: u64, range: Range<u64>, then: Then, answer: Then) {
        let mut waiting = self.0.lock();
        let withheld = waiting.withheld < WITHHELD_MAX;
        let (then, now) = match withheld {
            true => (vec![then, answer], None),
            false => (vec![then], Some(answer)),
        };
        waiting.withheld += usize::from(withheld);
        waiting.push(node, Notice { range, then, answers: withheld.into() });
        drop(waiting);
        self.0.changed.notify_one();
        now.into_iter().for_each(|answer| answer());
    }

    /// Has the kernel drop all of a file.
    pub(crate) fn stale(&self, node: u64) {
        self.0.lock().push(node, Notice { range: WHOLE, then: Vec::new(), answers: 0 });
        self.0.changed.notify_one();
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

    /// Sends notices, one after the other, until the sender is dropped or enough other threads are
    /// idle.
    fn work(self: &Arc<Self>, device: &Arc<OwnedFd>) {
        while let Some((node, notice)) = self.next(device) {
            // An error means that the kernel has nothing cached of the file.
            let _ = fuse_device::invalidate(device, node, &notice.range);
            let mut waiting = self.lock();
            waiting.sent(node, notice.answers);
            let ends = waiting.idle >= IDLE_MAX;
            if ends {
                waiting.threads -= 1;
            } else {
                waiting.idle += 1;
            }
            let more = !waiting.ready.is_empty();
            drop(waiting);
            if !notice.then.is_empty() {
                // The receiver ends after the last sender.
                let _ = self.answers.send(notice.then);
            }
            if ends {
                // Another one is idle, and may have been asleep when the file became ready.
                if more {
                    self.changed.notify_one();
                }
                return;
            }
        }
    }

    /// Waits for the next notice, and starts another thread if none is idle; `None` once the sender
    /// is dropped.
    fn next(self: &Arc<Self>, device: &Arc<OwnedFd>) -> Option<(u64, Notice)> {
        let idle = |waiting: &mut Waiting| waiting.ready.is_empty() && !waiting.closed;
        let waiting = self.changed.wait_while(self.lock(), idle);
        let mut waiting = waiting.unwrap_or_else(PoisonError::into_inner);
        if waiting.closed {
            return None;
        }
        let next = waiting.pop();
        waiting.idle -= 1;
        if waiting.idle == 0 && waiting.threads < THREADS_MAX {
            let (own, device) = (Arc::clone(self), Arc::clone(device));
            if builder().spawn(move || own.work(&device)).is_ok() {
                waiting.threads += 1;
                waiting.idle += 1;
            }
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(range: Range<u64>) -> Notice {
        Notice { range, then: Vec::new(), answers: 0 }
    }

    #[test]
    fn a_file_whose_notices_take_long_leaves_threads_to_others() {
        let mut waiting = Waiting::default();
        (0..100).for_each(|at| waiting.push(7, notice(at..at + 1)));
        waiting.push(8, notice(WHOLE));
        let popped: Vec<u64> = std::iter::from_fn(|| Some(waiting.pop()?.0)).collect();
        assert_eq!(popped.iter().filter(|node| **node == 7).count(), THREADS_PER_FILE);
        assert!(popped.contains(&8));
        waiting.sent(7, 0);
        assert_eq!(waiting.pop().map(|(node, _)| node), Some(7));
    }

    #[test]
    fn a_notice_about_the_whole_file_serves_those_behind_it() {
        let mut waiting = Waiting::default();
        waiting.push(7, notice(0..1));
        waiting.push(7, notice(WHOLE));
        (0..9).for_each(|at| waiting.push(7, notice(at..at + 1)));
        assert_eq!(std::iter::from_fn(|| waiting.pop()).count(), 2);
        waiting.sent(7, 0);
        waiting.sent(7, 0);
        assert!(waiting.files.is_empty() && waiting.ready.is_empty());
    }
}
