//! Events that the scheduler has not been told yet.
//!
//! While no request waits for a decision of the scheduler, a thread that has performed a request
//! answers it first and tells the scheduler afterwards, so that the program continues sooner. While
//! the scheduler has promised to issue a task's requests at once (the task has a *pass*), its
//! requests go to the disk first, too, and the scheduler is told of several together. So that the
//! scheduler learns of all events in their order and with their times, they are collected here, and
//! every thread that needs the scheduler tells it these first.

use super::Order;
use super::state::Outcome;
use fairdisk_core::{GroupId, Instant, RequestId, TaskId};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most events told together. The cost is in beginning to tell, not in each event.
const TOGETHER: usize = 32;

/// Identifies a request at the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// A request that the scheduler has issued.
    Issued(RequestId),
    /// The request that went to the disk without asking the scheduler; there is at most one.
    Unasked,
}

/// An event that the scheduler has not been told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// A request went to the disk without the scheduler being asked.
    Begun(Order),
    /// The jobs of a request were performed and answered.
    Answered(Which, Outcome),
}

/// Events, with their times.
pub(super) type AllNews = Vec<(Instant, News)>;

/// All events that the scheduler has not been told.
#[derive(Default)]
pub(super) struct Unheard(Mutex<Inside>);

#[derive(Default)]
struct Inside {
    news: AllNews,
    /// The task and group whose requests the scheduler would issue at once. The pass is given while
    /// nothing is queued or at the disk, and lasts until any other event.
    pass: Option<(TaskId, GroupId)>,
    /// Whether a request is at the disk by virtue of the pass.
    in_use: bool,
}

impl Inside {
    const fn is_due(&self) -> bool {
        self.pass.is_none() || self.news.len() >= TOGETHER
    }
}

impl Unheard {
    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that a request is about to be answered. Returns whether the caller must tell the
    /// scheduler afterwards. The time is read under the lock, so that events are in order.
    #[must_use]
    pub(super) fn answered(
        &self,
        now: impl FnOnce() -> Instant,
        which: Which,
        outcome: Outcome,
    ) -> bool {
        let mut inside = self.lock();
        inside.news.push((now(), News::Answered(which, outcome)));
        inside.in_use = false;
        inside.is_due()
    }

    /// Whether the scheduler still has to be told. If a pass was given meanwhile, it has been told
    /// everything before.
    pub(super) fn is_due(&self) -> bool {
        self.lock().is_due()
    }

    /// Uses the pass for a request. Returns whether the request may go to the disk without asking
    /// the scheduler, which is then recorded.
    pub(super) fn use_pass(&self, now: impl FnOnce() -> Instant, order: &Order) -> bool {
        let mut inside = self.lock();
        let may = inside.pass == Some((order.task, order.group)) && !inside.in_use;
        if may {
            inside.in_use = true;
            inside.news.push((now(), News::Begun(*order)));
        }
        may
    }

    /// Moves all events, in order, into `news`, which must be empty. Revokes the pass.
    pub(super) fn take(&self, news: &mut AllNews) {
        let mut inside = self.lock();
        inside.pass = None;
        std::mem::swap(&mut inside.news, news);
    }

    /// Gives a pass to the task of a request, and records that this request uses it. The scheduler
    /// must have been told all events.
    pub(super) fn give_pass(&self, now: impl FnOnce() -> Instant, order: &Order) {
        let mut inside = self.lock();
        (inside.pass, inside.in_use) = (Some((order.task, order.group)), true);
        inside.news.push((now(), News::Begun(*order)));
    }
}
