//! The interface between a shell and an engine: inputs report what happened, effects say what to
//! do.

use crate::elevator::{AttachError, Change};
use crate::refusal::Refusal;
use crate::request::{Bio, BioId, Request, RequestId, TaskId};
use crate::segments::Segments;
use crate::time::Instant;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// An event that the shell reports to the engine.
#[derive(Debug)]
pub enum Input<E> {
    /// A task submits a bio.
    Submit(Bio),
    /// A task submits a bio whose pages lie in these segments. They do not change what is decided
    /// unless an adapter counts them, so the journal does not have them.
    SubmitPages(Bio, Segments),
    /// A woken bio runs and tries again to get a request slot.
    Retry(Sleeper),
    /// The device completed a request.
    Completed {
        /// The completed request.
        request: RequestId,
        /// Whether it succeeded.
        ok: bool,
    },
    /// A submitter wants a bio back. If the bio is already at the device it completes as usual.
    Cancel(BioId),
    /// Somebody waits from now on for these bios, in order, those of them that were submitted as
    /// asynchronous. A bio that one is held behind is not hurried with it.
    Hurry(Box<[BioId]>),
    /// The time requested with [`Effects::wake_at`] has come.
    Tick,
    /// A task waits for the bios it has submitted, or wants them to start: unplug the device.
    Unplug,
    /// A group, a task or the device changes. If the elevator refuses, or the change is about a
    /// group that does not exist or would nest one in itself, nothing changes and
    /// [`Effects::change_refused`] gives the reason.
    Configure(Change),
    /// Another elevator takes over, along with the queued requests. If it refuses, the present
    /// elevator stays and [`Effects::switch_refused`] gives the reason.
    Switch(Box<E>),
}

/// A handle for a bio that waits for a request slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sleeper(pub(super) u32);

/// An action that the shell must carry out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Issue this request to the device.
    Issue(Request),
    /// Tell the submitter that its bio completed.
    Finish {
        /// The completed bio.
        bio: BioId,
        /// The task that submitted the bio.
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
        /// The sleeping task.
        task: TaskId,
    },
    /// The bio was withdrawn as requested with [`Input::Cancel`].
    Cancelled(BioId),
}

/// The effects of one call, in order. The shell reuses the buffer from call to call.
#[derive(Debug, Default)]
pub struct Effects {
    pub(super) list: Vec<Effect>,
    /// When the engine wants an [`Input::Tick`]; replaces any earlier request.
    pub wake_at: Option<Instant>,
    /// Why the elevator in an [`Input::Switch`] did not take over.
    pub switch_refused: Option<AttachError>,
    /// Why an [`Input::Configure`] was refused.
    pub change_refused: Option<Refusal>,
}

impl Effects {
    /// A buffer without effects.
    #[must_use]
    pub const fn new() -> Self {
        Self { list: Vec::new(), wake_at: None, switch_refused: None, change_refused: None }
    }

    /// The effects in the order in which to carry them out.
    #[must_use]
    pub fn as_slice(&self) -> &[Effect] {
        &self.list
    }
}
