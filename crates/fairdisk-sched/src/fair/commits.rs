//! How a group commits: how long it is served from one of its flushes to the next, and how much
//! others may write meanwhile.
//!
//! In some of these cycles others may write nothing, which shows what the group needs by itself.
//! In the others they may write what the device does in a *part* of the time until the next flush.
//! That part shrinks if the group is then served for so much longer that the cycle is longer than
//! the weights of all those writers let it be, and grows if not. It depends on the device whether
//! what others write while a flush is on its way delays that.

use super::mean::Mean;
use fairdisk_core::{Instant, Span, TaskId};

/// Others may write nothing in two cycles out of 32, and in the first ones. What they wrote before
/// delays the first of the two, and the second shows what the group needs.
const PROBE_EVERY: u32 = 32;
const PROBES_FIRST: u32 = 4;
/// Cycles for one adjustment of the part.
const JUDGED: u32 = 8;
/// A cycle is too long if it is longer than it may be by a sixteenth: less is chance.
const LONGER_PARTS: u64 = 16;
/// The part is halved or grows by a sixteenth of itself, between a sixty-fourth and `WHOLE`. If one
/// more write is too many, it is tried in one cycle out of twelve.
const GROWTH_PARTS: u64 = 16;
const PART_LEAST: u64 = WHOLE / 64;
/// The unit of parts.
pub(super) const WHOLE: u64 = 1 << 16;
/// A group commits no more once four times the time from one of its flushes to the next has passed
/// without one, and between these bounds: a task that gets no CPU for a tick or two still commits.
const GONE_FACTOR: u64 = 4;
const GONE_LEAST: Span = Span::from_ms(10);
const GONE_MOST: Span = Span::from_s(1);

/// A flush on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flush {
    pub(super) by: TaskId,
    pub(super) began: Instant,
    /// The cost of all writes sent until then.
    pub(super) sent: Span,
}

/// The current cycle.
#[derive(Clone, Copy, Debug, Default)]
struct Cycle {
    /// For how long the group had anything to be served, and since when it has.
    served: Span,
    since: Option<Instant>,
    /// How long its flush took, and how many of the group's ended.
    flush: Span,
    ended: u32,
    /// What the group has written.
    own: Span,
    /// Whether others wrote nothing in the cycle before.
    is_quiet: bool,
    /// The weight of all others when a write of one was looked at, as a part of the group's own, in
    /// parts of `WHOLE`; zero if none was.
    others: u64,
    /// Whether one of them had to wait.
    is_short: bool,
}

/// What happened in the cycles since the last adjustment.
#[derive(Clone, Copy, Debug, Default)]
struct Judged {
    cycles: u32,
    /// How long the group was served, and how many of its flushes ended.
    served: Span,
    flushes: u32,
    /// The sum of `Cycle::others`.
    others: u64,
}

/// How a group commits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Commits {
    flush: Option<Flush>,
    cycle: Cycle,
    cycles: u32,
    /// What cycles are like in which others write nothing: how long they are and how long the group
    /// is served in them, both for each flush that ends, how long the flush takes, and how long it
    /// is from that to the next.
    length: Mean,
    served: Mean,
    flushes: Mean,
    between: Mean,
    /// When the last flush ended, and when the group will not have flushed for so long that it
    /// commits no more.
    ended: Instant,
    gone: Instant,
    judged: Judged,
    /// What others may write, as a part of what the device does until the next flush.
    part: u64,
}

impl Commits {
    pub(super) fn new() -> Self {
        Self {
            flush: None,
            cycle: Cycle::default(),
            cycles: 0,
            length: Mean::default(),
            served: Mean::default(),
            flushes: Mean::default(),
            between: Mean::default(),
            ended: Instant::ZERO,
            gone: Instant::ZERO,
            judged: Judged::default(),
            part: WHOLE,
        }
    }

    /// Notes that the group has something to be served.
    #[inline]
    pub(super) const fn wants(&mut self, now: Instant) {
        self.cycle.since = Some(now);
    }

    /// Notes that the group has nothing more to be served.
    #[inline]
    pub(super) fn rests(&mut self, now: Instant) {
        if let Some(since) = self.cycle.since.take() {
            self.cycle.served += now.since(since);
        }
    }

    /// Notes that the group has written.
    #[inline]
    pub(super) fn send(&mut self, cost: Span) {
        self.cycle.own += cost;
    }

    /// How long a flush takes without the writes of others, if that is known.
    pub(super) fn usual(&self) -> Option<Span> {
        self.flushes.get()
    }

    /// When the group commits no more, if it does not flush until then.
    pub(super) const fn gone(&self) -> Instant {
        self.gone
    }

    /// Whether the flush that is looked at is on its way.
    pub(super) const fn is_flushing(&self) -> bool {
        self.gone.as_ns() == Instant::MAX.as_ns()
    }

    /// Begins a cycle with a flush. Returns when the next is to come.
    pub(super) fn begin(&mut self, flush: Flush) -> Instant {
        let now = flush.began;
        let since = self.cycle.since.map(|since| {
            self.cycle.served += now.since(since);
            now
        });
        let is_quiet = now < self.gone && self.end_cycle(now, flush.sent);
        self.cycle = Cycle { since, is_quiet, ..Cycle::default() };
        self.cycles = self.cycles.wrapping_add(1);
        (self.flush, self.gone) = (Some(flush), Instant::MAX);
        now + self.flushes.or_zero() + self.between.or_zero()
    }

    /// Counts a flush of the group that has ended.
    pub(super) const fn count(&mut self) {
        self.cycle.ended += 1;
    }

    /// Accounts for the end of the flush that this task has begun. Returns that flush, and when the
    /// next is to come. Nothing is learned from the cycle of a flush that has failed.
    pub(super) fn end(&mut self, now: Instant, by: TaskId, ok: bool) -> Option<(Flush, Instant)> {
        let flush = self.flush.filter(|flush| flush.by == by && self.is_flushing())?;
        self.flush = self.flush.filter(|_| ok);
        self.cycle.flush = now.since(flush.began);
        let usual = self.cycle.flush + self.between.or_zero();
        let gone = Span::from_ns(usual.as_ns().saturating_mul(GONE_FACTOR));
        (self.ended, self.gone) = (now, now + gone.max(GONE_LEAST).min(GONE_MOST));
        Some((flush, now + self.between.or_zero()))
    }

    /// Accounts for a cycle that ends with a flush before which so much has been sent. Returns
    /// whether others wrote nothing in it.
    fn end_cycle(&mut self, now: Instant, sent: Span) -> bool {
        let Some(Flush { began, sent: before, .. }) = self.flush else { return false };
        let cycle = self.cycle;
        debug_assert!(sent >= before + cycle.own, "its own writes are among all");
        let wrote_nothing = sent == before + cycle.own;
        if wrote_nothing && cycle.is_quiet {
            let flushes = u64::from(cycle.ended.max(1));
            self.length.add(now.since(began) / flushes);
            self.served.add(cycle.served / flushes);
            self.flushes.add(cycle.flush);
            self.between.add(now.since(self.ended));
        }
        if cycle.others > 0 && !self.is_probe() {
            self.judge(&cycle);
        }
        wrote_nothing
    }

    /// Adjusts the part after enough cycles, of which this was one.
    fn judge(&mut self, cycle: &Cycle) {
        let (Some(quiet), Some(length)) = (self.served.get(), self.length.get()) else { return };
        let judged = &mut self.judged;
        judged.cycles += 1;
        judged.served += cycle.served;
        judged.flushes += cycle.ended;
        judged.others += cycle.others;
        if judged.cycles < JUDGED {
            return;
        }
        let Judged { cycles, served, flushes, others } = core::mem::take(judged);
        let mean = served / u64::from(flushes.max(1));
        let most = length.scaled(others / u64::from(cycles), WHOLE) + length / LONGER_PARTS;
        if mean > quiet + most {
            self.part = (self.part / 2).max(PART_LEAST);
        } else if cycle.is_short {
            self.part = (self.part + self.part / GROWTH_PARTS).min(WHOLE);
        }
    }

    const fn is_probe(&self) -> bool {
        self.cycles < PROBES_FIRST || self.cycles % PROBE_EVERY < 2
    }

    /// Whether others may write now, so that the device `takes` so long for them, with so much time
    /// until the next flush is `due`. If not, after how long they may if nothing else happens: the
    /// device works its backlog off meanwhile.
    pub(super) fn lets_write(&self, due: Span, takes: Span) -> Result<(), Option<Span>> {
        let most = due.scaled(self.part, WHOLE);
        let is_known = !self.is_probe() && self.served.get().is_some();
        if is_known && takes <= most {
            return Ok(());
        }
        let nearer = WHOLE - self.part;
        Err((is_known && nearer > 0).then(|| (takes - most).scaled(WHOLE, nearer)))
    }

    /// Notes that a write of others was looked at, whose weight is given as a part of the group's
    /// own, in parts of `WHOLE`, and whether it had to wait.
    pub(super) fn looked_at(&mut self, others: u64, waits: bool) {
        self.cycle.others = self.cycle.others.max(others);
        self.cycle.is_short |= waits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Span = Span::from_ms(1);

    /// A group that flushes every 4 ms, for 3 ms of them, and what others write between.
    struct Run {
        commits: Commits,
        now: Instant,
        sent: Span,
    }

    impl Run {
        fn new() -> Self {
            Self { commits: Commits::new(), now: Instant::ZERO, sent: Span::ZERO }
        }

        /// A cycle in which others ask to write what takes so long, and by that much longer a flush
        /// that they are let. Returns whether they are.
        fn cycle(&mut self, takes: Span, longer: Span) -> bool {
            let Self { commits, now, sent } = self;
            commits.wants(*now);
            let due = commits.begin(Flush { by: TaskId(1), began: *now, sent: *sent });
            let lets = commits.lets_write(due.since(*now), takes).is_ok();
            if takes > Span::ZERO {
                commits.looked_at(WHOLE / 8, !lets);
            }
            let lets = takes > Span::ZERO && lets;
            let more = if lets { longer } else { Span::ZERO };
            if lets {
                *sent += takes;
            }
            *now += MS + MS + MS + more;
            commits.rests(*now);
            commits.count();
            assert!(commits.end(*now, TaskId(1), true).is_some());
            *now += MS;
            lets
        }

        /// In how many of so many cycles others are let.
        fn lets(&mut self, cycles: u32, takes: Span, longer: Span) -> u32 {
            (0..cycles).map(|_| u32::from(self.cycle(takes, longer))).sum()
        }
    }

    #[test]
    fn others_write_nothing_until_it_is_known_how_long_the_group_is_served() {
        let mut run = Run::new();
        assert_eq!(run.lets(3, MS, Span::ZERO), 0);
        assert_eq!(run.commits.usual(), Some(Span::from_ms(3)));
        // Then in 30 cycles of 32.
        assert_eq!(run.lets(64, MS, Span::ZERO), 60);
    }

    #[test]
    fn others_write_no_more_than_the_device_does_until_the_next_flush() {
        let mut run = Run::new();
        run.lets(6, Span::ZERO, Span::ZERO);
        assert!(run.cycle(Span::from_ms(4), Span::ZERO));
        assert!(!run.cycle(Span::from_ms(5), Span::ZERO));
    }

    #[test]
    fn what_makes_flushes_longer_than_weights_let_it_is_tried_now_and_then() {
        let mut run = Run::new();
        run.lets(6, Span::ZERO, Span::ZERO);
        // By a half, where the weight of others is an eighth.
        run.lets(64, Span::from_ms(3), MS + MS / 2);
        let tried = run.lets(320, Span::from_ms(3), MS + MS / 2);
        assert!((8..=64).contains(&tried), "{tried}");
        // Nor is it more than a tenth longer in the mean than by itself.
        assert!(run.commits.usual() < Some(Span::from_us(3300)), "{:?}", run.commits.usual());
    }

    #[test]
    fn a_group_that_does_not_flush_for_long_commits_no_more() {
        let mut run = Run::new();
        run.lets(8, Span::ZERO, Span::ZERO);
        let gone = run.commits.gone().since(run.now).as_ms();
        assert!((10..=16).contains(&gone), "{gone}");
    }
}
