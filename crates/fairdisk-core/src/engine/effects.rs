//! What a shell and an engine tell each other: what happened, and what to do.

use crate::attach::AttachError;
use crate::elevator::Change;
use crate::refusal::Refusal;
use crate::request::{Bio, BioId, Request, RequestId, TaskId};
use crate::time::Instant;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// What happened.
#[derive(Debug)]
pub enum Input<E> {
    /// A task submits a bio.
    Submit(Bio),
    /// A sleeping bio that was woken runs and tries again for a slot.
    Retry(Sleeper),
    /// The device finished a request.
    Completed {
        /// Which.
        request: RequestId,
        /// Whether it succeeded.
        ok: bool,
    },
    /// A submitter wants a bio back. It may be too late; then it finishes as usual.
    Cancel(BioId),
    /// The time asked for with [`Effects::wake_at`] has come.
    Tick,
    /// A task waits for what it has submitted, or wants it to start: a plug comes out.
    Unplug,
    /// Groups or tasks changed. If the elevator refuses, nothing changes and
    /// [`Effects::change_refused`] says why.
    Configure(Change),
    /// Another elevator takes over; what is queued is carried over. If it refuses, the elevator in
    /// charge stays and [`Effects::switch_refused`] says why.
    Switch(Box<E>),
}

/// A bio that waits for a request slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sleeper(pub(super) u32);

/// What the shell must do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Give this request to the device.
    Issue(Request),
    /// Tell the submitter that its bio finished.
    Finish {
        /// The bio.
        bio: BioId,
        /// Its task.
        task: TaskId,
        /// Whether it succeeded.
        ok: bool,
    },
    /// No request slot is free: the task sleeps and submits nothing until it is woken.
    Sleep {
        /// The task.
        task: TaskId,
    },
    /// A slot is free: let this sleeper run and answer with [`Input::Retry`].
    Wake {
        /// The sleeper.
        sleeper: Sleeper,
        /// The task that sleeps.
        task: TaskId,
    },
    /// The bio was withdrawn as asked.
    Cancelled(BioId),
}

/// What to do, in order. Reused from call to call.
#[derive(Debug, Default)]
pub struct Effects {
    pub(super) list: Vec<Effect>,
    /// When the engine wants a [`Input::Tick`]; replaces any earlier wish.
    pub wake_at: Option<Instant>,
    /// Why the elevator of an [`Input::Switch`] did not take over.
    pub switch_refused: Option<AttachError>,
    /// Why the elevator did not do what was asked for.
    pub change_refused: Option<Refusal>,
}

impl Effects {
    /// No effects yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { list: Vec::new(), wake_at: None, switch_refused: None, change_refused: None }
    }

    /// The effects in order.
    #[must_use]
    pub fn as_slice(&self) -> &[Effect] {
        &self.list
    }
}
