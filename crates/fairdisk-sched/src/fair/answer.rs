//! The answers to the question of a decision, and the notes that it takes on its way.

use super::NIL;
use super::patience::Patience;
use fairdisk_core::{Instant, Span, Why};

/// From where on it is asked.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ask {
    /// From the beginning.
    All,
    /// What is next in the turn.
    Turn,
    /// Who is first in line, after a turn of the group `before`, if any, `ended` for this reason.
    Line { ended: Why, before: u32 },
}

impl Ask {
    /// Who is first in line, whatever was before.
    pub(super) const LINE: Self = Self::Line { ended: Why::LeastServed, before: NIL };
}

/// What is next.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    /// This request is dispatched, and this becomes of the turn.
    Dispatch { at: u32, why: Why, turn: After },
    /// Nothing is dispatched until then; until something happens if that is [`Instant::MAX`].
    Wait(Instant, Why),
    /// A group has nothing for now.
    Bar(Bar, Ask),
    /// The turn is over.
    EndTurn(Over, Ask),
    /// A turn of the group begins with the queue.
    BeginTurn { group: u32, queue: u32 },
    /// A turn of the group begins in which no other queue's requests are issued.
    BeginAlone { group: u32, queue: u32 },
    /// The turn goes on with the queue, and no other one's requests are issued.
    GoOnAlone { queue: u32 },
}

/// What becomes of the turn when a request is dispatched.
#[derive(Clone, Copy, Debug)]
pub(super) enum After {
    /// The request is served aside: the disk is kept free for nobody meanwhile.
    Aside,
    /// It stays as it is.
    Same,
    /// It goes on with the request's queue.
    WithQueue,
    /// One of the request's group begins, for a latency target of the group or not.
    New { is_brought: bool },
}

/// Why a turn is over.
#[derive(Clone, Copy, Debug)]
pub(super) enum Over {
    /// Of itself: nothing of it is remembered.
    Done,
    /// The group has nothing queued and is not waited for.
    Left(Patience),
    Barred(Bar),
}

/// What was found while asking, for those who learn from it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Notes {
    /// Whether none of those that others wait for could be served.
    pub(super) awaited_in_vain: bool,
    /// Whether a group is ahead of one for which it makes room.
    pub(super) is_contended: bool,
    /// Whether groups are held back for a promise to another.
    pub(super) is_for_promise: bool,
    /// The request that is held back for one.
    pub(super) held: Option<Held>,
    /// Whether room for a floor is needed, where that was looked at.
    pub(super) floor_room: Option<FloorRoom>,
    /// A write that a thinker may have to wait for.
    pub(super) allowance: Option<Asked>,
    /// A write that may delay a flush.
    pub(super) delayed: Option<Delayed>,
    /// Whether the disk is kept free at the cost of the group whose turn it is.
    pub(super) at_own_cost: bool,
    /// For how long that group was waited for in vain, if its pauses are longer.
    pub(super) late: Option<Span>,
    /// Since when the disk is kept free for a thinker.
    pub(super) held_since: Option<Instant>,
}

/// A group gets no service until then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bar {
    pub(super) group: u32,
    pub(super) until: Instant,
    pub(super) cause: Cause,
}

/// Why a group is barred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// It is at its ceiling.
    Ceiling,
    /// Its next write would delay the flush of another.
    Flush,
}

/// A write that was looked at while a group commits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delayed {
    /// The group that commits.
    pub(super) whose: u32,
    /// The group that writes, and its write.
    pub(super) by: u32,
    pub(super) write: u32,
    /// Until when the write waits at most, if it has to.
    pub(super) until: Option<Instant>,
}

/// A write that was checked against the allowance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) most: Span,
    /// Whether the allowance is used up.
    pub(super) is_short: bool,
    /// Whether the write has to wait.
    pub(super) waits: bool,
}

/// What is next in line on a device without a head, and is held back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) request: u32,
    pub(super) until: Instant,
    /// Whether it waits for another task of its own group.
    pub(super) is_inside: bool,
}

/// Whether others leave room for a group's floor.
#[derive(Clone, Copy, Debug)]
pub(super) struct FloorRoom {
    pub(super) is_made: bool,
    /// Until when they do, or do not have to if nothing happens.
    pub(super) until: Instant,
}

impl FloorRoom {
    pub(super) const NONE: Self = Self { is_made: false, until: Instant::MAX };
}
