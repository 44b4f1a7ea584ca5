//! The policy interface: an [`Elevator`] decides the order of requests and gives a reason for each
//! decision. It has no clock and does no I/O; the current time is always an argument.
//!
//! [`Elevator`] is the core: six methods that every scheduler writes, and one for changes. What
//! only some have to do with is in extensions, whose methods all have defaults:
//!
//! - [`Merging`]: what a queued request may take in, and that it has.
//! - [`Driving`]: the request slots before the queue, the driver behind it, and the way past both.
//! - [`Hearing`]: flushes, and bios that wait for others.
//! - [`Promising`]: whether what a change promises to a group can be kept.
//! - [`Reporting`]: what is told of a scheduler in reports.
//! - [`Attaching`]: records in groups that outlive a scheduler.
//!
//! So this is a whole scheduler, here in an engine:
//!
//! ```
//! use fairdisk_core::{
//!     Admission, Bio, BioId, Completion, Decision, Description, Effect, Effects, Elevator,
//!     Engine, EngineConfig, GroupId, Handover, Input, Instant, IoPrio, Journal, Lba, Op, Request,
//!     RequestId, Sectors, TaskId, Why, default_extensions,
//! };
//! use std::collections::BTreeSet;
//!
//! /// Serves what lies first on the disk.
//! #[derive(Default)]
//! struct Lowest {
//!     queued: BTreeSet<(Lba, RequestId)>,
//!     in_flight: u32,
//! }
//!
//! impl Elevator for Lowest {
//!     fn admit(&mut self, _now: Instant, request: &Request) -> Admission {
//!         self.queued.insert((request.start, request.id));
//!         Admission::Queued
//!     }
//!
//!     fn decide(&mut self, now: Instant) -> Decision {
//!         match self.drain(now) {
//!             Some(id) => {
//!                 self.in_flight += 1;
//!                 Decision::Dispatch(id, Why::SectorOrder)
//!             }
//!             None if self.in_flight > 0 => Decision::WaitCompletion(Why::NothingQueued),
//!             None => Decision::Idle,
//!         }
//!     }
//!
//!     fn complete(&mut self, _now: Instant, _completion: &Completion) {
//!         self.in_flight -= 1;
//!     }
//!
//!     fn withdraw(&mut self, _now: Instant, id: RequestId) {
//!         self.queued.retain(|(_, queued)| *queued != id);
//!     }
//!
//!     fn drain(&mut self, _now: Instant) -> Option<RequestId> {
//!         self.queued.pop_first().map(|(_, id)| id)
//!     }
//!
//!     fn describe(&self) -> Description {
//!         Description::new("lowest", Handover::Single)
//!     }
//! }
//!
//! default_extensions!(Lowest);
//!
//! let config = EngineConfig::default();
//! let mut engine = Engine::new(Lowest::default(), config, Journal::hashing());
//! let mut effects = Effects::new();
//! for (id, start) in [(0, 70), (1, 900), (2, 300)] {
//!     let flush = Bio::flush(BioId(id), TaskId(1), GroupId::ROOT, IoPrio::UNSET);
//!     let read = Bio { op: Op::Read, start: Lba(start), sectors: Sectors(8), ..flush };
//!     engine.handle(Instant::ZERO, Input::Submit(read), &mut effects);
//! }
//! let done = Input::Completed { request: RequestId(0), ok: true };
//! engine.handle(Instant::ZERO, done, &mut effects);
//! assert!(matches!(effects.as_slice(), [_, Effect::Issue(next)] if next.start == Lba(300)));
//! ```

mod attaching;
mod change;
mod description;
mod driving;
mod hearing;
mod merging;
mod promising;
mod reporting;

pub use attaching::{AttachError, Attaching, Leftovers};
pub use change::Change;
pub use description::{Description, Handover, Turns};
pub use driving::{Driving, MayQueue};
pub use hearing::{Hearing, Submitter};
pub use merging::{Merge, Merging};
pub use promising::Promising;
pub use reporting::Reporting;

use crate::request::{Request, RequestId};
use crate::time::{Instant, Span};
use crate::why::Why;

/// A scheduling policy.
///
/// Every elevator obeys nine laws, checked by [`Auditor`](crate::Auditor) and the contract suite:
///
/// 1. `now` never decreases from call to call.
/// 2. No request is invented, lost or completed twice.
/// 3. A wait or [`Decision::Idle`] is repeated until something changes.
///    [`activate`](Driving::activate) does not count as a change.
/// 4. [`Decision::WaitUntil`] names a later instant, at which the answer changes.
///    [`Decision::WaitCompletion`] is returned only while requests or flushes are in flight.
/// 5. [`Decision::Idle`] is returned exactly when nothing is queued or in flight.
/// 6. The work per call is bounded: it grows at most with the logarithm of the number of groups,
///    tasks and requests, and does not grow with elapsed time. A call may do work that earlier
///    calls postponed, as long as each of them postponed no more than a bounded amount. Calls that
///    change the device or ask whether a change is accepted may visit all groups. The historical
///    schedulers and the rivals obey this law too, except in the calls listed in its test.
/// 7. The same inputs give the same decisions on every machine.
/// 8. Flushes and overlapping writes keep their order. The engine sees to this.
/// 9. Every admitted request is dispatched within the bounds stated in [`Description`]: of time, of
///    requests that overtake it, or of [turns](Turns) that other tasks of its group have before
///    its own task. The historical schedulers state none: the CFQs have defect D3, and `deadline`
///    delays a request until all overdue ones have been dispatched.
pub trait Elevator: Merging + Driving + Hearing + Promising + Reporting + Attaching {
    /// Takes over a request and queues it.
    fn admit(&mut self, now: Instant, request: &Request) -> Admission;

    /// Chooses the next request for the dispatch list, or says what to wait for.
    fn decide(&mut self, now: Instant) -> Decision;

    /// Reports that a dispatched request has completed.
    fn complete(&mut self, now: Instant, completion: &Completion);

    /// Removes a queued request that was cancelled or absorbed by a merge, or that comes again as a
    /// synchronous one.
    fn withdraw(&mut self, now: Instant, id: RequestId);

    /// Removes and returns one queued request, in the order in which the elevator would serve them
    /// without ever waiting; `None` when empty. Used before a change of elevator.
    fn drain(&mut self, now: Instant) -> Option<RequestId>;

    /// The elevator's name, how it fills the dispatch list, and the bounds it promises.
    fn describe(&self) -> Description;

    /// Applies a change to groups, tasks or the device. By default none matters.
    fn configure(&mut self, _now: Instant, _change: &Change) {}
}

/// The answer of [`Elevator::admit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The request is queued.
    Queued,
    /// The request is queued, and the given request, queued earlier at the same position, goes
    /// straight to the dispatch list.
    Displaces(RequestId),
}

/// The answer of [`Elevator::decide`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Put this request on the dispatch list.
    Dispatch(RequestId, Why),
    /// Dispatch nothing before this instant unless something changes.
    WaitUntil(Instant, Why),
    /// Dispatch nothing before the next completion unless something changes.
    WaitCompletion(Why),
    /// Nothing is queued and nothing is in flight.
    Idle,
}

/// A request that the device has completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The completed request.
    pub request: RequestId,
    /// How long the device was busy with the request. On a device that serves one request at a
    /// time: the time since the previous completion. On a device known to serve several at once
    /// ([`Change::Depth`]): the request's part of the time during which it was outstanding together
    /// with others. The device times of all requests add up to the device's busy time.
    pub device_time: Span,
    /// Whether it succeeded.
    pub ok: bool,
}

/// Takes the defaults of all extensions of [`Elevator`] for a scheduler, or of those that are named
/// after it: `default_extensions!(Deadline: Driving, Hearing)`.
#[macro_export]
macro_rules! default_extensions {
    ($scheduler:ty) => {
        $crate::default_extensions!(
            $scheduler: Merging, Driving, Hearing, Promising, Reporting, Attaching
        );
    };
    ($scheduler:ty: $($extension:ident),+) => {
        $(impl $crate::$extension for $scheduler {})+
    };
}
