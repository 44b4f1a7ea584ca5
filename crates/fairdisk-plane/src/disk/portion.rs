//! Decides whether a disk gets as many requests as its depth allows, or half of them while the rest
//! waits.
//!
//! Requests that are at a disk together tend to complete together. Then all who made them are
//! answered and make new ones, and the disk is idle meanwhile. If half of the requests had been
//! held back, they would have gone to the disk before anybody was answered. On the other hand, a
//! disk that serves all its requests in parallel does half as much with half as many. Which is
//! better depends on the disk, the machine and the programs, so both are tried alternately, and the
//! better one is kept.

use fairdisk_core::{Instant, Span};

/// The number of requests in a stretch, over which the time is measured.
const STRETCH: u32 = 512;
/// The number of requests at the beginning of a stretch that are still influenced by the previous
/// one, and not measured.
const SETTLING: u32 = 64;
/// The number of stretches with each portion in a trial.
const TURNS: usize = 4;
/// The number of shortest stretches that count, since disturbances only ever make a stretch longer.
const BEST: usize = 2;
/// The number of stretches between two trials.
const KEPT: u32 = 256;
/// Half the depth is kept if it saves at least this fraction, 1/32, of the time.
const WORTH: u64 = 32;

/// Decides which portion of its depth the disk gets.
#[derive(Debug)]
pub(super) struct Portion {
    /// The depth of the disk in requests.
    all: u32,
    /// Whether the disk gets half of its depth.
    halved: bool,
    /// The most requests waiting or at the disk in the current stretch.
    peak: u32,
    /// The number of completions in the current stretch.
    done: u32,
    /// The time at which the influence of the previous stretch was over.
    settled: Instant,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    /// The portion is kept for this many stretches.
    Keeping(u32),
    /// Both portions are tried; these are the times of the stretches with each.
    Trying { all: Vec<Span>, half: Vec<Span> },
}

impl Portion {
    /// The full depth, until there is a comparison.
    pub(super) const fn of(all: u32) -> Self {
        let (peak, done, settled) = (0, 0, Instant::ZERO);
        Self { all, halved: false, peak, done, settled, phase: Phase::Keeping(1) }
    }

    /// The number of requests that the disk gets at once.
    pub(super) const fn requests(&self) -> u32 {
        if self.halved { self.all.div_ceil(2) } else { self.all }
    }

    /// Notes a completion, at which `there` requests were waiting or at the disk.
    pub(super) fn completed(&mut self, now: Instant, there: u32) {
        self.peak = self.peak.max(there);
        self.done += 1;
        if self.done == SETTLING {
            self.settled = now;
        }
        if self.done < STRETCH {
            return;
        }
        // With fewer requests than the disk takes there is nothing to gain, and half may be too
        // few.
        if self.peak >= self.all - self.all / 4 {
            self.judge(now - self.settled);
        } else if self.halved || matches!(self.phase, Phase::Trying { .. }) {
            (self.phase, self.halved) = (Phase::Keeping(1), false);
        }
        (self.peak, self.done) = (0, 0);
    }

    /// Evaluates a stretch that has taken `took`.
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

/// The total time of the shortest stretches.
fn best(stretches: &mut [Span]) -> Span {
    stretches.sort_unstable();
    stretches[..BEST].iter().fold(Span::ZERO, |sum, one| sum + *one)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates programs that keep `there` requests outstanding, on a disk that serves a batch of
    /// `n` requests in `serve(n)`. The requests of a batch complete together, and are then answered
    /// one after the other, while the disk works on what was held back. Returns the size of each
    /// batch.
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
            // Whoever is answered makes a new request. If nothing was held back, the disk waits for
            // it.
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

    /// The batch size once it has been decided.
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
