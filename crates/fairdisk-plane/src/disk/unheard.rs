//! What has happened and is yet to be told to the scheduler.
//!
//! Where nobody waits for the scheduler to decide, whoever performed a request answers it first and
//! tells the scheduler afterwards: the one who asked goes on meanwhile. Where the scheduler has
//! said that it would issue what a task asks for at once, whoever submits that performs it first,
//! too, and tells of several such requests together. So that the scheduler hears of everything in
//! the order in which it happened, and with the time at which it did, what is to be told lies here,
//! and everybody who wants something of the scheduler tells it first.

use super::Order;
use super::state::Outcome;
use fairdisk_core::{GroupId, Instant, RequestId, TaskId};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// So much is told together at most: to begin with each costs more than to go on.
const TOGETHER: usize = 32;

/// A request at the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// One that the scheduler has issued.
    Issued(RequestId),
    /// The one that went there unasked.
    Unasked,
}

/// What the scheduler has not heard of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// A request went to the disk unasked.
    Begun(Order),
    /// The jobs of a request have been performed and answered.
    Answered(Which, Outcome),
}

/// What happened, with when it did.
pub(super) type AllNews = Vec<(Instant, News)>;

/// All that it has not heard of.
#[derive(Default)]
pub(super) struct Unheard(Mutex<Inside>);

#[derive(Default)]
struct Inside {
    news: AllNews,
    /// Whose requests the scheduler would issue at once. It is given while nothing is queued or at
    /// the disk, until anything else happens.
    pass: Option<(TaskId, GroupId)>,
    /// Something is at the disk by it.
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

    /// A request is about to be answered. Whether to tell the scheduler afterwards, or leave that
    /// to others. The clock is read where nobody comes between.
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

    /// Whether the scheduler is to be told still. It knows of everything before a pass was given,
    /// and nothing was left to be seen to then.
    pub(super) fn is_due(&self) -> bool {
        self.lock().is_due()
    }

    /// Whether the request may go to the disk unasked. It is on its way then.
    pub(super) fn use_pass(&self, now: impl FnOnce() -> Instant, order: &Order) -> bool {
        let mut inside = self.lock();
        let may = inside.pass == Some((order.task, order.group)) && !inside.in_use;
        if may {
            inside.in_use = true;
            inside.news.push((now(), News::Begun(*order)));
        }
        may
    }

    /// Takes all, in the order in which it happened, into what is empty. Nobody has a pass then.
    pub(super) fn take(&self, news: &mut AllNews) {
        let mut inside = self.lock();
        inside.pass = None;
        std::mem::swap(&mut inside.news, news);
    }

    /// Gives a pass to whoever asks for this, which goes to the disk by it. The scheduler has heard
    /// of everything.
    pub(super) fn give_pass(&self, now: impl FnOnce() -> Instant, order: &Order) {
        let mut inside = self.lock();
        (inside.pass, inside.in_use) = (Some((order.task, order.group)), true);
        inside.news.push((now(), News::Begun(*order)));
    }
}
