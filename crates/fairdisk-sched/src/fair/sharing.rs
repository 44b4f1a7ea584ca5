//! Whether groups are served together or in turns, on a device without a head.
//!
//! Together such a device does more, but there a group with few requests in flight gets less than
//! its weight, and nobody knows what a request costs beside others. In turns one group has the
//! device to itself for its part of a round, as on a disk with a head: what it uses is the time
//! that passes, whatever its requests cost. Which of the two is better depends on the loads, so
//! both are tried: a [look](super::looks) at the one and a look at the other make a
//! [pair](super::ways). Where costs are told, that is done only if groups that could use their
//! shares lack a sixteenth of all together: elsewhere nothing is to be gained.
//!
//! In turns each group has its part of the time, and shows what it can do in that. So what it does
//! together, as a multiple of that, is what it has of the device together, in parts of its own: its
//! *gain*. Together is better if the mean logarithm of the gains, by weight, exceeds half of the
//! logarithm of their mean: a loss of one group counts twice as much as a gain of all.

use super::Fair;
use super::hierarchy::WHOLE_DISK;
use super::looks::{Looks, Of, RATE_TIME};
use super::ways::{ONE, Ways, logarithm};
use fairdisk_core::{Instant, Span};

/// A look covers at least two rounds, and so many requests.
const LOOK_ROUNDS: u64 = 2;
const LOOK_REQUESTS: u32 = 128;
/// What is known of both ways: in turns is the second.
#[derive(Debug, Default)]
pub(super) struct Sharing {
    pub(super) looks: Looks,
    ways: Ways<false>,
    /// Which groups there were at the end of the last look, as a sum that differs for another set.
    groups_before: u64,
    /// What groups lacked of their shares in the last looks at them together, in parts of `ONE`.
    lacking: i64,
}

/// What a group did in the last look at each way, as the cost done in `RATE_TIME`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rates {
    together: Span,
    in_turns: Span,
}

/// The largest gain that counts, in parts of `ONE`.
const GAIN_MOST: u64 = 64 * ONE as u64;

impl Rates {
    /// How much more it does together, in parts of `ONE`.
    fn gain(self) -> u64 {
        let in_turns = self.in_turns.as_ns().max(1);
        self.together.scaled(ONE as u64, in_turns).as_ns().clamp(1, GAIN_MOST)
    }
}

/// 2^64 divided by the golden ratio.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
/// Together groups lack much if it is a sixteenth: twice as much as by chance in a short look.
const LACKING_MUCH: i64 = ONE / 16;
/// With each look the earlier ones count an eighth less.
const LACKING_LOOKS: i64 = 8;

/// A number of which sums tell sets of groups apart (Fibonacci hashing, twice).
const fn hash(group: u32) -> u64 {
    let once = (group as u64 + 1).wrapping_mul(SPREAD);
    (once ^ once >> 32).wrapping_mul(SPREAD)
}

impl Sharing {
    /// Whether groups are served in turns.
    pub(super) const fn is_in_turns(&self) -> bool {
        self.ways.is_second()
    }

    /// Ends a look. `better` says by how much it is better in turns, if this was a pair, and
    /// `may_take_turns` whether they may be tried.
    fn end_look(&mut self, now: Instant, better: i64, may_take_turns: bool) {
        let groups = self.looks.groups();
        let may_try = may_take_turns && groups.len() > 1;
        let set = groups.iter().map(|group| hash(*group)).fold(0, u64::wrapping_add);
        if core::mem::replace(&mut self.groups_before, set) != set || !may_try {
            // Of these groups nothing is known yet.
            self.ways.forget();
        }
        let tells = may_try && !self.looks.is_held_back;
        self.ways.end_look(tells.then_some(better), may_try);
        self.looks.next(now);
    }
}

impl Fair {
    /// Accounts for a completed request of the group in the current look.
    pub(super) fn look_at_sharing(&mut self, now: Instant, group: u32, cost: Span) {
        let time = Span::from_ns(self.turns.rounds.length.as_ns().saturating_mul(LOOK_ROUNDS));
        let least = (time.max(RATE_TIME), LOOK_REQUESTS);
        if let Some(elapsed) = self.note_in_look(now, Of::Sharing, (group, cost), least) {
            self.end_look_at_sharing(now, elapsed);
        }
    }

    #[cold]
    fn end_look_at_sharing(&mut self, now: Instant, elapsed: Span) {
        let was_in_turns = self.device.sharing.is_in_turns();
        let there = self.there_in_look(Of::Sharing);
        for (group, done) in &there {
            let rate = done.scaled(RATE_TIME.as_ns(), elapsed.as_ns());
            let rates = &mut self.groups[*group as usize].past.rates;
            match was_in_turns {
                true => rates.in_turns = rate,
                false => rates.together = rate,
            }
        }
        let ends_pair = self.device.sharing.ways.ends_pair();
        let better = if ends_pair { self.better_in_turns(&there) } else { 0 };
        if !was_in_turns {
            let lacking = self.lacking_together(&there);
            let before = &mut self.device.sharing.lacking;
            *before += (lacking - *before) / LACKING_LOOKS;
        }
        let gains = !self.device.is_told() || self.device.sharing.lacking > LACKING_MUCH;
        // Turns would have to be broken off for floors and targets.
        let may_take_turns =
            gains && self.promises.floors.is_empty() && self.promises.targets.is_empty();
        self.device.sharing.end_look(now, better, may_take_turns);
        if self.device.sharing.is_in_turns() != was_in_turns {
            self.device.depth_limit.begin_anew(now);
            self.forget_debts();
        }
    }

    /// What these groups lack of their shares, in parts of `ONE` of all that was done. One that
    /// could not use its share alone either lacks nothing: for it most of its turn would be lost.
    fn lacking_together(&self, there: &[(u32, Span)]) -> i64 {
        let all: Span = there.iter().fold(Span::ZERO, |all, (_, done)| all + *done);
        let parts: i64 = there.iter().map(|(group, _)| self.part_in_look(*group)).sum();
        let lacks = |(group, done): &(u32, Span)| {
            let got = done.scaled(ONE as u64, all.as_ns().max(1)).as_ns() as i64;
            let part = self.part_in_look(*group) * ONE / parts.max(1);
            if self.usable_part(*group) < part { 0 } else { (part - got).max(0) }
        };
        there.iter().map(lacks).sum()
    }

    /// What part of the device the group can use if nothing else is there, in parts of `ONE`.
    fn usable_part(&self, group: u32) -> i64 {
        let entry = &self.groups[group as usize];
        let requests = entry.past.worth.requests().max(entry.in_flight + entry.waiting).max(1);
        let one = entry.usable_alone(&self.device);
        (one.saturating_mul(requests.into()).min(WHOLE_DISK) >> 22) as i64
    }

    /// By how much it is better for these groups in turns than together, in parts of `ONE`.
    fn better_in_turns(&self, there: &[(u32, Span)]) -> i64 {
        let (mut logarithms, mut gains, mut parts) = (0, 0, 0);
        for (group, _) in there {
            let gain = self.groups[*group as usize].past.rates.gain();
            let part = self.part_in_look(*group);
            logarithms += part * (logarithm(gain) - logarithm(ONE as u64));
            gains += part as u64 * gain;
            parts += part;
        }
        let parts = parts.max(1);
        let more = logarithm((gains / parts as u64).max(1)) - logarithm(ONE as u64);
        more / 2 - logarithms / parts
    }

    /// Lets nobody be ahead or behind any more: what groups owe from the one way, in which they may
    /// have had anything but their shares, they would not have made up for in the looks at the
    /// other.
    #[cold]
    fn forget_debts(&mut self) {
        for group in self.device.sharing.looks.groups() {
            self.tree.forget_debts(*group);
        }
    }
}
