//! What is done and answered, and is yet to be told to the scheduler.
//!
//! Where nobody waits for the scheduler to decide, whoever performed a request answers it first and
//! tells the scheduler afterwards: the one who asked goes on meanwhile. So that the scheduler hears
//! of everything in the order in which it happened, and with the time at which it did, what is to be
//! told lies here, and everybody who wants something of the scheduler tells it first.

use super::few::Few;
use super::state::Outcome;
use fairdisk_core::{Instant, RequestId};
use std::sync::{Mutex, PoisonError};

/// A request whose jobs are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answered {
    /// When it was done.
    pub(super) at: Instant,
    pub(super) request: RequestId,
    pub(super) outcome: Outcome,
}

/// All that the scheduler has not heard of.
#[derive(Default)]
pub(super) struct Unheard(Mutex<Few<Answered>>);

impl Unheard {
    /// One more is about to be answered.
    pub(super) fn add(&self, answered: Answered) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(answered);
    }

    /// Takes all, in the order in which they came.
    pub(super) fn take(&self) -> Few<Answered> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
