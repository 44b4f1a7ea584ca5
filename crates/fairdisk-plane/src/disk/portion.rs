//! Whether a disk is given all that it takes at once, or half of it while the rest waits.
//!
//! Requests that are at a disk together tend to come back together. Then all who asked for them are
//! answered and ask again, and the disk has nothing meanwhile. Had half of the requests been kept
//! back, they would have gone there before anybody was answered. But a disk that serves as many at
//! once as it is given does half as much with half as many. Which of the two it is depends on the
//! disk, the machine and the programs; so both are tried in turns, and the better one is kept.

use fairdisk_core::{Instant, Span};

/// Requests between two looks at how long they took.
const STRETCH: u32 = 512;
/// Of these, those at the beginning that still show what was before.
const SETTLING: u32 = 64;
/// Stretches with each portion in one trial.
const TURNS: usize = 4;
/// Of these, those that count: what comes between only ever makes a stretch longer.
const BEST: usize = 2;
/// Stretches from one trial to the next.
const KEPT: u32 = 256;
/// Half is kept if it takes less time by one part in so many.
const WORTH: u64 = 32;

/// Decides how much of what the disk takes it is given.
#[derive(Debug)]
pub(super) struct Portion {
    /// How many requests the disk takes at once.
    all: u32,
    /// It is given half of that.
    halved: bool,
    /// How much there was at most since the stretch began.
    peak: u32,
    /// Requests done in it, and when it had settled.
    done: u32,
    settled: Instant,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    /// So many stretches are left.
    Keeping(u32),
    /// How long stretches took with all and with half, in turns.
    Trying { all: Vec<Span>, half: Vec<Span> },
}

impl Portion {
    /// All of it until there has been something to compare.
    pub(super) const fn of(all: u32) -> Self {
        let (peak, done, settled) = (0, 0, Instant::ZERO);
        Self { all, halved: false, peak, done, settled, phase: Phase::Keeping(1) }
    }

    /// How many requests the disk is given at once.
    pub(super) const fn requests(&self) -> u32 {
        if self.halved { self.all.div_ceil(2) } else { self.all }
    }

    /// A request is back, and with it there were so many that wanted the disk or had it.
    pub(super) fn completed(&mut self, now: Instant, there: u32) {
        self.peak = self.peak.max(there);
        self.done += 1;
        if self.done == SETTLING {
            self.settled = now;
        }
        if self.done < STRETCH {
            return;
        }
        // With less there than the disk takes there is nothing to gain, and half may be too little.
        if self.peak >= self.all - self.all / 4 {
            self.judge(now - self.settled);
        } else if self.halved || matches!(self.phase, Phase::Trying { .. }) {
            (self.phase, self.halved) = (Phase::Keeping(1), false);
        }
        (self.peak, self.done) = (0, 0);
    }

    /// A stretch has taken `took`.
    fn judge(&mut self, took: Span) {
        match &mut self.phase {
            Phase::Keeping(left) if *left > 1 => *left -= 1,
            Phase::Keeping(_) => {
                self.phase = Phase::Trying { all: Vec::new(), half: Vec::new() };
                self.halved = false;
            }
            Phase::Trying { all, half } => {
                if self.halved { &mut *half } else { &mut *all }.push(took);
                self.halved = !self.halved;
                if half.len() == TURNS {
                    let (all, half) = (best(all), best(half));
                    self.halved = half + all / WORTH < all;
                    self.phase = Phase::Keeping(KEPT);
                }
            }
        }
    }
}

/// The shortest of them, together.
fn best(stretches: &mut [Span]) -> Span {
    stretches.sort_unstable();
    stretches[..BEST].iter().fold(Span::ZERO, |sum, one| sum + *one)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Programs that keep `there` requests on their way, and a disk that takes `serve(n)` for `n`
    /// of them, which come back together. Whoever asked is answered after that, one after the
    /// other; meanwhile the disk does what was kept back. Says how many it was given at once in
    /// each crowd.
    fn crowds(there: u32, answer_us: u64, serve: impl Fn(u32) -> Span, crowds: usize) -> Vec<u32> {
        let mut portion = Portion::of(32);
        let (mut now, mut answered) = (Instant::ZERO, Instant::ZERO);
        let mut waiting = there;
        let crowd = |_| {
            let given = portion.requests().min(waiting);
            let done = now + serve(given);
            waiting -= given;
            (0..given).for_each(|at| {
                portion.completed(done, waiting + given - at);
            });
            // Those who are answered come again; with nothing kept back the disk waits for them.
            answered = answered.max(done) + us(answer_us * u64::from(given));
            now = if waiting > 0 { done } else { answered };
            waiting += given;
            given
        };
        (0..crowds).map(crowd).collect()
    }

    fn us(us: u64) -> Span {
        Span::from_us(us)
    }

    /// How many it is given once that is decided.
    fn settles_at(there: u32, answer_us: u64, serve: impl Fn(u32) -> Span) -> u32 {
        *crowds(there, answer_us, serve, 1000).last().expect("a thousand")
    }

    #[test]
    fn a_disk_that_would_stand_idle_while_a_crowd_is_answered_is_given_half() {
        assert_eq!(settles_at(32, 5, |n| us(20 + 12 * u64::from(n))), 16);
    }

    #[test]
    fn a_disk_that_serves_all_of_them_in_the_time_of_one_is_given_all() {
        assert_eq!(settles_at(32, 5, |_| us(1000)), 32);
    }

    #[test]
    fn with_as_much_either_way_it_is_given_all() {
        assert_eq!(settles_at(64, 0, |n| us(12 * u64::from(n))), 32);
    }

    #[test]
    fn with_few_requests_nothing_is_tried() {
        let given = crowds(16, 5, |n| us(12 * u64::from(n)), 1000);
        assert!(given.iter().all(|given| *given == 16));
    }

    #[test]
    fn what_was_decided_is_tried_again_when_the_disk_has_become_another() {
        let mut portion = Portion::of(32);
        let mut now = Instant::ZERO;
        let mut stretches = |count: u32, all: Span, half: Span| {
            (0..count * STRETCH).for_each(|_| {
                now += if portion.halved { half } else { all };
                portion.completed(now, 32);
            });
            portion.requests()
        };
        assert_eq!(stretches(9, us(11), us(10)), 16);
        assert_eq!(stretches(KEPT - 1, us(11), us(20)), 16, "nobody looks");
        assert_eq!(stretches(10, us(11), us(20)), 32);
    }

    #[test]
    fn half_is_for_as_long_as_so_much_is_wanted() {
        let mut portion = Portion::of(32);
        let mut now = Instant::ZERO;
        let mut stretches = |count: u32, there: u32| {
            (0..count * STRETCH).for_each(|_| {
                now += us(if portion.halved { 10 } else { 20 });
                portion.completed(now, there);
            });
            portion.requests()
        };
        assert_eq!(stretches(20, 32), 16);
        assert_eq!(stretches(1, 20), 32);
        assert_eq!(stretches(20, 32), 16, "and it is tried again");
    }

    #[test]
    fn a_trial_is_given_up_when_the_load_ends() {
        let mut portion = Portion::of(32);
        let mut now = Instant::ZERO;
        let mut stretch = |there: u32| {
            (0..STRETCH).for_each(|_| {
                now += us(if portion.halved { 10 } else { 20 });
                portion.completed(now, there);
            });
            portion.requests()
        };
        assert_eq!([stretch(32), stretch(32), stretch(3)], [32, 16, 32]);
        assert_eq!([3; 20].map(&mut stretch), [32; 20]);
    }
}
