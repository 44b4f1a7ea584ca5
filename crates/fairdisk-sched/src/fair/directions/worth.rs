//! Whether turns of directions are worth it: looks with turns are compared with looks without
//! (`pairs`).

use crate::fair::pairs::{Pairs, Way};
use fairdisk_core::{Instant, Span};

/// How long a look takes at least, or three credits. A turn of the one and one of the other take
/// no longer than two.
const LOOK_TIME: Span = Span::from_ms(50);
/// Turns have to gain a sixteenth, in three quarters of the last eight pairs.
const GAIN_PARTS: u64 = 16;
const GAIN_QUARTERS: u32 = 3;
const GAIN_PAIRS: u32 = 8;
/// Looks from one pair to the next while turns are worth it, and while they are not: then a pair
/// has one look with turns, and one in 128 leaves the 99th percentile of latencies as it is.
const LOOKS_WITH_TURNS: u32 = 64;
const LOOKS_WITHOUT: u32 = 128;

/// What turns are worth, as far as it is known, and the current look.
#[derive(Debug, Default)]
pub(super) struct Worth {
    /// Looks with turns, and without.
    pub(super) pairs: Pairs<GAIN_PARTS>,
    /// The cost of all that was completed.
    pub(super) done: Span,
    look: Look,
}

/// What happened since the current look began.
#[derive(Clone, Copy, Debug, Default)]
struct Look {
    began: Instant,
    /// The cost of what was completed before.
    done_before: Span,
    /// Whether a group waited for a turn.
    has_turns: bool,
}

impl Worth {
    /// Accounts for a completed request that was charged this when it was dispatched.
    pub(super) fn completed(&mut self, charged: Span) {
        self.done += charged;
    }

    /// Notes that a group waits for a turn.
    pub(super) const fn note_turns(&mut self) {
        self.look.has_turns = true;
    }

    /// Whether directions take turns in the current look.
    pub(super) const fn take_turns(&self) -> bool {
        match self.pairs.tried() {
            Some(Way::First) => true,
            Some(Way::Second) => false,
            None => self.are_worth_it(),
        }
    }

    const fn are_worth_it(&self) -> bool {
        self.pairs.is_known() && self.pairs.is_slower_in(GAIN_QUARTERS, GAIN_PAIRS)
    }

    /// Ends the current look if it is long enough, after the turns of both directions. Each took no
    /// longer than `credit`.
    pub(super) fn end_look(&mut self, now: Instant, credit: Span) {
        let took = now.since(self.look.began);
        let look_time = LOOK_TIME.max(credit + credit + credit);
        if took < look_time {
            return;
        }
        let Look { done_before, has_turns, .. } = self.look;
        let work = self.done - done_before;
        self.look = Look { began: now, done_before: self.done, has_turns: false };
        let has_pause = took > look_time + look_time;
        if has_pause {
            self.pairs.put_off();
            return;
        }
        // If nobody waited for a turn, there was none to learn of.
        let is_tried = has_turns || self.pairs.tried() != Some(Way::First);
        let between = if self.are_worth_it() { LOOKS_WITH_TURNS } else { LOOKS_WITHOUT };
        self.pairs.end_look(is_tried.then_some((took, work)), between);
    }
}
