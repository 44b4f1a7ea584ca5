//! What has happened and is yet to be told to the scheduler.
//!
//! Where nobody waits for the scheduler to decide, whoever performed a request answers it first and
//! tells the scheduler afterwards: the one who asked goes on meanwhile. Where the scheduler has said
//! that it would issue the next request of a task at once, whoever submits that performs it first,
//! too. So that the scheduler hears of everything in the order in which it happened, and with the
//! time at which it did, what is to be told lies here, and everybody who wants something of the
//! scheduler tells it first.

use super::Order;
use super::few::Few;
use super::state::Outcome;
use fairdisk_core::{GroupId, Instant, RequestId, TaskId};
use std::sync::{Mutex, MutexGuard, PoisonError};

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

/// Whose next request the scheduler would issue at once.
pub(super) type Pass = (TaskId, GroupId);

/// All that it has not heard of.
#[derive(Default)]
pub(super) struct Unheard(Mutex<Inside>);

#[derive(Default)]
struct Inside {
    news: Few<(Instant, News)>,
    /// Given while nothing is queued or at the disk, until anything happens.
    pass: Option<Pass>,
}

impl Unheard {
    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something has just happened. The clock is read where nobody comes between.
    pub(super) fn add(&self, now: impl FnOnce() -> Instant, news: News) {
        let mut inside = self.lock();
        inside.news.push((now(), news));
    }

    /// Whether the request may go to the disk unasked. It is on its way then.
    pub(super) fn use_pass(&self, now: impl FnOnce() -> Instant, order: &Order) -> bool {
        let mut inside = self.lock();
        let may = inside.pass.take() == Some((order.task, order.group));
        if may {
            inside.news.push((now(), News::Begun(*order)));
        }
        may
    }

    /// Takes all, in the order in which it happened. Nobody has a pass any more.
    pub(super) fn take(&self) -> Few<(Instant, News)> {
        let mut inside = self.lock();
        inside.pass = None;
        std::mem::take(&mut inside.news)
    }

    /// From now on somebody has a pass, or nobody. The scheduler has heard of everything.
    pub(super) fn give_pass(&self, pass: Option<Pass>) {
        self.lock().pass = pass;
    }
}
