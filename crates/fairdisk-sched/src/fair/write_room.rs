//! How many writes keep a device without a head busy.
//!
//! Others make room by the stated work that keeps the device busy, which was measured with reads. A
//! write is acknowledged once the device has taken it in, sooner than a read has found its page, so
//! fewer of them may keep it as busy. More only wait there for each other, and a group that has few
//! waits with them.
//!
//! How many it takes depends on what the device does with them at the time, so it is tried: for a
//! number of writes others may have all of the stated work there, for as many more a little less,
//! and so on. The limit becomes less as long as the device does as much with it.

use super::pairs::{Pairs, Way};
use fairdisk_core::{Instant, Span};

/// Writes per look: four times as many as requests in `trial`, as each step of the limit depends on
/// a few looks, and they differ by half as much then.
const LOOK_WRITES: u32 = 1024;
/// A step is an eighth of the limit: finer than one write as long as eight are there, which is
/// about what a device takes to be busy.
const STEP_PARTS: u64 = 8;
/// The device does less if the same work takes a thirty-second longer. It is a fourth of a step, so
/// a limit that is too small by one shows, and about as much as two looks differ by chance.
const SLOWER_PARTS: u64 = 32;
/// With a limit that is too small it does less in half of the last eight pairs.
const SLOWER_QUARTERS: u32 = 2;
const SLOWER_PAIRS: u32 = 8;
/// Looks from one pair to the next while the limit stays: one look without it in 130 leaves the
/// 99th percentile of latencies as it is.
const LOOKS_BETWEEN: u32 = 128;
/// Looks for which it stays before less is tried, which takes sixteen looks without it: a lower
/// limit that has become right is found, and little is lost where it has not.
const LOOKS_KEPT: u32 = 32 * LOOKS_BETWEEN;

/// The limit, and the current look.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WriteRoom {
    /// Looks with all of the stated work, and with what is tried.
    pairs: Pairs<SLOWER_PARTS>,
    /// The limit between pairs, and what is tried: a step less, or the same while it stays.
    limit: Span,
    tried: Span,
    /// What a write cost in the mean when the limit was all of the stated work; zero before that.
    size: Span,
    /// Looks since the limit stays.
    kept: u32,
    look: Look,
    /// Whether a write waits for room.
    waits: bool,
}

/// What happened since the current look began, with a completed write.
#[derive(Clone, Copy, Debug, Default)]
struct Look {
    began: Instant,
    writes: u32,
    cost: Span,
    /// Writes that completed while another waited for room.
    awaited: u32,
    /// Whether reads were there.
    has_reads: bool,
}

impl WriteRoom {
    /// Whether a write has to wait that would make it this much work, where the stated work keeps
    /// the device busy.
    pub(super) fn has_none(&mut self, work: Span, stated: Span) -> bool {
        self.waits = work >= self.limit_now(stated);
        self.waits
    }

    /// Notes that a write is being dispatched.
    #[inline]
    pub(super) const fn dispatched(&mut self) {
        self.waits = false;
    }

    /// The limit in the current look.
    fn limit_now(&self, stated: Span) -> Span {
        match self.pairs.tried() {
            _ if self.size == Span::ZERO => stated,
            Some(Way::First) => stated,
            Some(Way::Second) => self.tried,
            None => self.limit,
        }
    }

    /// Accounts for a write of this cost that has completed.
    pub(super) fn completed(&mut self, now: Instant, cost: Span, beside_reads: bool, stated: Span) {
        let look = &mut self.look;
        if look.writes == 0 {
            *look = Look { began: now, ..Look::default() };
        } else {
            look.cost += cost;
            look.awaited += u32::from(self.waits);
        }
        look.writes += 1;
        look.has_reads |= beside_reads;
        if look.writes > LOOK_WRITES {
            let look = core::mem::take(look);
            self.end_look(&look, now.since(look.began), stated);
        }
    }

    /// Ends a look that took so long.
    fn end_look(&mut self, look: &Look, took: Span, stated: Span) {
        // If reads were in the way, or mostly nobody waited for room, nothing is learned.
        if look.has_reads || look.awaited < LOOK_WRITES / 2 {
            return self.pairs.break_off();
        }
        let size = look.cost / u64::from(LOOK_WRITES);
        if size > self.size + self.size || size + size < self.size {
            // What is right for writes of one size says nothing about those of another.
            (self.limit, self.size) = (stated, size);
            self.try_less();
        }
        self.kept += 1;
        self.pairs.end_look(Some((took, look.cost)), LOOKS_BETWEEN);
        if self.pairs.is_known() {
            self.judge(stated);
        }
    }

    /// Draws the conclusion from the last pairs.
    fn judge(&mut self, stated: Span) {
        let stays = self.tried == self.limit;
        match self.pairs.is_slower_in(SLOWER_QUARTERS, SLOWER_PAIRS) {
            // The device needs more than it did.
            true if stays => self.stay_at((self.limit + self.limit / (STEP_PARTS - 1)).min(stated)),
            true => self.stay_at(self.limit),
            false if !stays => {
                self.limit = self.tried;
                self.try_less();
            }
            false if self.kept >= LOOKS_KEPT => self.try_less(),
            false => {}
        }
    }

    /// Lets the limit stay at this.
    fn stay_at(&mut self, limit: Span) {
        *self = Self { limit, tried: limit, size: self.size, waits: self.waits, ..Self::default() };
    }

    /// Tries a step less, if not just one write is there as it is.
    fn try_less(&mut self) {
        let step = if self.limit > self.size { self.limit / STEP_PARTS } else { Span::ZERO };
        self.stay_at(self.limit);
        self.tried = self.limit - step;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::Prng;

    const COST: Span = Span::from_us(10);
    /// Ten writes, up to the one that would make it as much.
    const STATED: Span = Span::from_us(110);

    /// A device that as many writes keep busy as `needed`, which take `COST` each then, but for
    /// looks that take up to a part of `noise` longer or shorter.
    struct Bed {
        room: WriteRoom,
        now: Instant,
        prng: Prng,
        needed: u64,
        noise: u64,
        cost: Span,
    }

    impl Bed {
        fn new(needed: u64) -> Self {
            let (room, prng) = (WriteRoom::default(), Prng::new(1));
            Self { room, now: Instant::ZERO, prng, needed, noise: 0, cost: COST }
        }

        /// How many writes are there at most.
        fn most(&mut self) -> u64 {
            let is_free = |n: &u64| *n == 1 || !self.room.has_none(self.cost.scaled(*n, 1), STATED);
            (1..=64).take_while(is_free).count() as u64
        }

        /// How many writes are there in each of so many looks.
        fn looks(&mut self, looks: u32) -> alloc::vec::Vec<u64> {
            let look = |_| {
                let there = self.most();
                let took = self.cost.as_ns() * self.needed / there.min(self.needed);
                let noise = took.checked_div(self.noise).unwrap_or_default();
                let took = took - noise + self.prng.below(2 * noise + 1);
                for _ in 0..=LOOK_WRITES {
                    self.now += Span::from_ns(took);
                    self.room.waits = true;
                    self.room.completed(self.now, self.cost, false, STATED);
                }
                there
            };
            (0..looks).map(look).collect()
        }

        /// How many are there between pairs, after so many looks.
        fn usual_after(&mut self, looks: u32) -> u64 {
            self.looks(looks);
            self.room.pairs.break_off();
            self.most()
        }
    }

    #[test]
    fn no_more_are_there_than_keep_the_device_busy() {
        assert_eq!([2, 3, 5, 8].map(|needed| Bed::new(needed).usual_after(500)), [2, 3, 5, 8]);
        // All that is stated, if it takes more than that.
        assert_eq!(Bed::new(20).usual_after(500), 10);
    }

    #[test]
    fn few_looks_are_without_the_limit() {
        let mut bed = Bed::new(3);
        bed.looks(500);
        assert_eq!(bed.looks(1300).iter().filter(|there| **there == 10).count(), 10);
        // Less is tried after a while, for eight looks.
        assert_eq!(bed.looks(5000).iter().filter(|there| **there == 2).count(), 8);
    }

    #[test]
    fn chance_does_not_take_what_the_device_needs() {
        let mut bed = Bed::new(4);
        bed.noise = 32;
        bed.looks(10_000);
        let there = bed.looks(60_000);
        let too_few = there.iter().filter(|there| **there < 4).count();
        let mean = there.iter().sum::<u64>() / 60_000;
        assert!(too_few < 600 && mean < 7, "{too_few} looks with too few, {mean} in the mean");
    }

    #[test]
    fn a_device_that_has_come_to_need_more_has_more() {
        let mut bed = Bed::new(3);
        bed.looks(500);
        bed.needed = 6;
        assert_eq!(bed.usual_after(1000), 6);
    }

    #[test]
    fn writes_of_another_size_have_all_of_the_room_at_first() {
        let mut bed = Bed::new(2);
        assert_eq!(bed.usual_after(500), 2);
        bed.cost = Span::from_us(25);
        assert_eq!((bed.looks(1), bed.most()), (alloc::vec![1], 4));
    }

    #[test]
    fn beside_reads_and_where_nobody_waits_nothing_is_learned() {
        for (waits, beside_reads) in [(false, false), (true, true)] {
            let mut bed = Bed::new(3);
            for at in 0..1 << 20 {
                bed.room.waits = waits;
                bed.room.completed(Instant::from_ns(at * 10_000), COST, beside_reads, STATED);
            }
            assert_eq!(bed.looks(1), [10]);
        }
    }

    #[test]
    fn a_dispatched_write_ends_the_wait() {
        let mut room = WriteRoom::default();
        assert!(room.has_none(STATED, STATED) && room.waits);
        room.dispatched();
        assert!(!room.waits && !room.has_none(COST, STATED));
    }
}
