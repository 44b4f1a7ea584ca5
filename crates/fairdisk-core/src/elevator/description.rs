//! What an elevator states about itself.

use crate::request::{Lba, Sectors};
use crate::time::Span;

/// How an elevator fills the dispatch list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handover {
    /// One request whenever the list is empty.
    Single,
    /// As many requests as the elevator decides on; the list sorts them into one-way sector order.
    Batch,
}

/// Law 9 among the tasks of a group that have the same I/O priority: how long one of them waits for
/// the others.
///
/// A *turn* of a task is a run of its synchronous requests that are dispatched within `length`. A
/// request is part of the turn of the one before if nothing else of the group is dispatched between
/// them, or if the later one begins where the earlier one ended. One that begins where the last of
/// its group ended, or no further away than `near`, is part of the turn of that, whosever it was.
/// What another group [waits for](crate::Why::Awaited) is part of no turn.
///
/// While a task has synchronous requests queued and none of them is dispatched, the others of its
/// group and priority have at most `each` turns for each of them that has any at a time, the task
/// itself included, and for each request of its own last turn, up to `continued`, that began where
/// the one before ended, if there were several. So where a turn is one request, one waits at most
/// `each` times as long as its kind does in the mean, and a request of a task that has more queued
/// waits as long for each that is served before it. A task that gets another priority waits from
/// then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turns {
    /// How many turns for each task.
    pub each: u32,
    /// How long a turn is at most.
    pub length: Span,
    /// How many requests of a turn count, of a task that then waits for longer.
    pub continued: u32,
    /// How far from the last request of the group one of another task may begin that is part of its
    /// turn.
    pub near: Sectors,
}

impl Turns {
    /// Whether a request that begins here is part of the turn of one that ended at `end`.
    #[must_use]
    pub const fn is_near(&self, end: Lba, begin: Lba) -> bool {
        begin.0.abs_diff(end.0) <= self.near.0 as u64
    }
}

/// What an elevator states about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description {
    /// The name of the elevator's revision in the catalogue.
    pub name: &'static str,
    /// How the elevator fills the dispatch list.
    pub handover: Handover,
    /// Law 9: the longest time a request may stay in the elevator while the disk is busy, if the
    /// elevator promises a bound.
    pub wait_max: Option<Span>,
    /// Law 9: how many later requests may be dispatched before an earlier one, if the elevator
    /// promises a bound.
    pub overtaken_max: Option<u32>,
    /// Law 9: how many turns others of a group have before a task that waits, if the elevator
    /// promises a bound.
    pub turns_max: Option<Turns>,
}

impl Description {
    /// A description that promises no bounds.
    #[must_use]
    pub const fn new(name: &'static str, handover: Handover) -> Self {
        Self { name, handover, wait_max: None, overtaken_max: None, turns_max: None }
    }
}
