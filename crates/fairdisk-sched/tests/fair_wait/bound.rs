//! The longest that a group may wait, as docs/fair.md states it.
//!
//! Where nothing changes that is `W/w x t + T`. Otherwise `W/w`, the group's own turn and that of
//! each other are the largest that they were from when its last turn began: what it had then is
//! what it is ahead by. Whoever comes meanwhile has a turn more, and what it may catch up on.

use fairdisk_core::Span;

/// The most groups at a time.
pub(crate) const GROUPS: usize = 7;

/// The most that a group with a target may be ahead by for it.
const AHEAD_MOST: Span = Span::from_ms(100);

/// A group at a moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// Zero if it does not want the disk.
    pub(crate) weight: u64,
    /// How long a turn of it is.
    pub(crate) turn: Span,
    /// What it may have before its turn for a target.
    pub(crate) early: Span,
}

impl Seen {
    /// What others may wait for.
    pub(crate) fn most(self) -> Span {
        self.turn + self.early
    }
}

/// What a group with a target may have before its turn, with requests that take `service` at most.
/// The others have their parts for it before it is served again.
pub(crate) fn early(service: Span) -> Span {
    AHEAD_MOST + service
}

/// What was seen since the last turn of a group began.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bound {
    own: Span,
    /// The largest sum of weights in which the group had this weight.
    of_all: Option<(u64, u64)>,
    turns: [Span; GROUPS],
    /// What came on top by what happened.
    more: Span,
}

impl Bound {
    /// Takes in what the groups are at this moment; this is the bound of `group`.
    pub(crate) fn note(&mut self, group: usize, seen: &[Seen; GROUPS]) {
        let (own, all) = (seen[group], seen.iter().map(|one| one.weight).sum());
        self.own = self.own.max(own.most());
        let is_more = |(sum, weight): (u64, u64)| all * weight > sum * own.weight;
        if own.weight > 0 && self.of_all.is_none_or(is_more) {
            self.of_all = Some((all, own.weight));
        }
        for (turn, one) in self.turns.iter_mut().zip(seen) {
            *turn = (*turn).max(one.most());
        }
    }

    /// Adds what the group may have to wait for because something happened.
    pub(crate) fn add(&mut self, more: Span) {
        self.more += more;
    }

    /// The longest wait.
    pub(crate) fn longest(&self) -> Span {
        let (sum, weight) = self.of_all.unwrap_or((1, 1));
        let turns = self.turns.iter().fold(Span::ZERO, |turns, turn| turns + *turn);
        self.own.scaled(sum, weight) + turns + self.more
    }
}
