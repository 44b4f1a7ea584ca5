//! The absence of a group: what is remembered of when it thinks, and for how long.

use super::NIL;
use super::mean::Mean;
use super::think::{Done, Think};
use fairdisk_core::{Instant, Span};

/// When a group thinks, and for how long.
#[derive(Clone, Debug)]
pub(super) struct Absence {
    /// What became of the group's last turn when it had nothing queued.
    pub(super) away: Away,
    /// Whether it left its turn early and has something synchronous queued again.
    pub(super) is_back: bool,
    /// A think time that is at least as long as this counts as a pause.
    pub(super) waited: Span,
    /// The queue of the task that was last noted to think after the group left its turn early.
    pub(super) thinker: u32,
    /// When the group's last request or flush completed.
    pub(super) quiet_since: Option<Instant>,
    /// Think times: from `quiet_since` to the next synchronous request or flush, capped as in
    /// `Device::thought` but for pauses.
    pub(super) think: Think,
    /// The group's requests since its last flush.
    pub(super) unflushed: u32,
    /// The mean time of its flushes for each of its requests.
    flushing: Mean,
}

/// What became of the turn of a group that thinks and has not come back yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Away {
    /// It goes on, or ended for another reason.
    No,
    /// It goes on, though the group has been away for longer than usual.
    Late,
    /// It ended while the group was behind, because the group was away for too long. Between its
    /// pauses the group is worth waiting for.
    Outlasted,
    /// It ended while the group was behind, because its usual think time is too long to wait for.
    TooLong,
}

/// A group that has had more requests since its last flush does not wait for flushes any more.
const UNFLUSHED_MOST: u32 = 64;

impl Absence {
    pub(super) fn new() -> Self {
        Self {
            away: Away::No,
            is_back: false,
            waited: Span::ZERO,
            thinker: NIL,
            quiet_since: None,
            think: Think::default(),
            unflushed: 0,
            flushing: Mean::default(),
        }
    }

    /// From when on the time for which the group has been thinking counts as a pause.
    pub(super) fn pauses_from(&self) -> Option<Instant> {
        self.quiet_since.map(|since| since + self.waited)
    }

    /// Notes that a flush, its own or another group's, took this long for the group's writes.
    pub(super) fn flushed(&mut self, took: Span) {
        let requests = core::mem::replace(&mut self.unflushed, 0);
        self.flushing.add(took / u64::from(requests.max(1)));
    }

    /// How long the group pauses before each of its requests, in the mean.
    pub(super) fn pause(&self) -> Span {
        self.think.or_zero() + self.flushing()
    }

    /// The mean time that flushes took for each of the group's requests, if there still are any.
    pub(super) fn flushing(&self) -> Span {
        if self.unflushed <= UNFLUSHED_MOST { self.flushing.or_zero() } else { Span::ZERO }
    }

    /// Notes that a request or a flush of the group is done, after which the group thinks.
    #[inline]
    pub(super) const fn note_done(&mut self, now: Instant, done: Done) {
        self.quiet_since = Some(now);
        self.think.begins_after(done);
    }

    /// Notes that the group thinks no more, and for how long if that `is_known` and was a pause.
    /// Returns whether it left its turn early.
    pub(super) fn ends_pause(&mut self, now: Instant, is_known: bool) -> bool {
        let thought = self.quiet_since.filter(|_| is_known).map(|since| now.since(since));
        let is_away = self.away != Away::No;
        if let Some(thought) = thought.filter(|thought| is_away && *thought >= self.waited) {
            self.think.add_pause(thought);
        }
        if self.away == Away::Late {
            self.away = Away::No;
        }
        self.left_early()
    }

    /// Whether the group's last turn ended while it was behind, because it thinks for too long.
    pub(super) const fn left_early(&self) -> bool {
        matches!(self.away, Away::Outlasted | Away::TooLong)
    }
}
