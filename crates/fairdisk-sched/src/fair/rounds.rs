//! The length of a round, the time in which all groups have a turn.
//!
//! On a disk with a head, going from one group to the next costs a seek. In a longer round a
//! smaller part is lost, but everybody waits longer. A round has the length that is set
//! (`round_ms`), with two exceptions:
//!
//! - on an array a task may have all heads to itself; a round is long enough for the stated time to
//!   move them there and back to be a twentieth of it;
//! - for a latency target it is shorter: `target::intervals`.

use super::Fair;
use fairdisk_core::{Instant, Span};

/// A twentieth of a round may be lost: so little is not worth a longer wait.
const LOST_PARTS: u64 = 20;
/// A round is at most 4 times as long as set, which bounds how much longer others wait.
const ROUND_FACTOR_MOST: u64 = 4;

/// No turn is shorter than an eighth of a round: 25 ms of a default one, about two random requests
/// of a disk with a head.
const SHORTEST_PARTS: u64 = 8;

/// The length of a round and of the shortest turn.
#[derive(Debug)]
pub(super) struct Rounds {
    pub(super) length: Span,
    pub(super) shortest_turn: Span,
    /// Both, if no target needs shorter ones.
    stated: Span,
    stated_turn: Span,
}

impl Rounds {
    pub(super) fn new(length: Span) -> Self {
        let shortest_turn = length / SHORTEST_PARTS;
        Self { length, shortest_turn, stated: length, stated_turn: shortest_turn }
    }

    /// Makes rounds no longer than `most`, and the shortest turn no longer than an eighth of
    /// `interval`, for a target.
    pub(super) fn fit(&mut self, most: Span, interval: Span) {
        self.length = self.stated.min(most);
        self.shortest_turn = self.stated_turn.min(interval / SHORTEST_PARTS);
    }
}

impl Fair {
    /// Resets the length after the device or its costs changed.
    pub(super) fn set_round(&mut self, now: Instant) {
        let alone = self.device.elsewhere();
        let moves = if self.device.is_paced() { alone + alone } else { Span::ZERO };
        (self.turns.rounds.stated, self.turns.rounds.stated_turn) =
            match self.device.works_beside_flushes() {
                // Nothing is lost between turns, and those who wait do so for a fast device.
                true => (self.params.credit, self.params.credit / SHORTEST_PARTS),
                false => (self.worth_round(moves), self.params.round / SHORTEST_PARTS),
            };
        self.tree.set_lag(self.params.lag(self.device.rotational || self.device.is_serial()));
        self.fit_round(now);
    }

    /// The length that a round needs for `lost` to be a twentieth of it, within limits.
    fn worth_round(&self, lost: Span) -> Span {
        let (round, lost) = (self.params.round.as_ns(), lost.as_ns());
        let most = round.saturating_mul(ROUND_FACTOR_MOST);
        Span::from_ns(lost.saturating_mul(LOST_PARTS).clamp(round, most))
    }
}
