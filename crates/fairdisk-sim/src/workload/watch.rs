//! What a task does about what it measures of itself: it ends, or changes how many I/Os it keeps in
//! flight.

use super::direction::PerOp;
use fairdisk_core::{Instant, Op, Span};
use std::collections::VecDeque;

/// What a task looks at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Watch {
    /// The least a task must do.
    pub least: Option<LeastRate>,
    /// The longest an I/O may take.
    pub longest: Option<Span>,
    /// When what it does counts as steady.
    pub steady: Option<Steady>,
    /// How many I/Os it keeps in flight to have a latency.
    pub target: Option<LatencyTarget>,
}

/// The least that a task must do in each cycle after its first two seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeastRate {
    /// Bytes a second of each operation.
    pub bytes_per_s: PerOp<Option<u64>>,
    /// I/Os a second of each operation.
    pub ios_per_s: PerOp<Option<u64>>,
    /// The length of a cycle.
    pub cycle: Span,
}

/// What must be steady, for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steady {
    /// Whether bytes are counted, or I/Os.
    pub bytes: bool,
    /// Whether the slope of the line through all seconds is limited, or the distance of each second
    /// from the mean.
    pub slope: bool,
    /// The limit: a number, or millionths of the mean.
    pub limit: Limit,
    /// How long it must be steady.
    pub lasting: Span,
    /// Time before it is measured.
    pub ramp: Span,
}

/// How far what is steady may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// By millionths of a byte or an I/O a second.
    Millionths(u64),
    /// By millionths of the mean.
    OfMean(u64),
}

/// A latency to keep, by how many I/Os are in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatencyTarget {
    /// The latency that I/Os are to have.
    pub latency: Span,
    /// How long a number of I/Os in flight is tried.
    pub window: Span,
    /// How many of a million I/Os must have the latency.
    pub millionths: u32,
    /// Whether the task goes on when it has found how many it can have in flight.
    pub goes_on: bool,
    /// The most it keeps in flight.
    pub depth_max: u32,
}

/// Why a task has ended by what it measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It did less than it must.
    TooSlow,
    /// An I/O took longer than it may.
    TooLong,
    /// It was steady.
    Steady,
    /// It has found how many I/Os it can have in flight.
    Found {
        /// How many.
        depth: u32,
    },
    /// Not even one I/O in flight has the latency.
    OutOfReach,
}

/// What follows from an I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Nothing,
    /// The task keeps so many in flight.
    Depth(u32),
    End(Verdict),
}

/// What a task has measured.
#[derive(Debug)]
pub(crate) struct Watching {
    spec: Watch,
    began: Instant,
    ios: PerOp<u64>,
    bytes: PerOp<u64>,
    cycle: Cycle,
    seconds: Seconds,
    search: Option<Search>,
}

/// The start of a cycle, and what had been done then.
#[derive(Debug, Default)]
struct Cycle {
    since: Option<Instant>,
    ios: PerOp<u64>,
    bytes: PerOp<u64>,
}

/// What was done in each of the last seconds.
#[derive(Debug, Default)]
struct Seconds {
    /// When the present second ends.
    next: Instant,
    /// When it began, and what had been done then; `None` before the first.
    since: Option<(Instant, u64)>,
    /// What was done a second.
    done: VecDeque<u64>,
}

/// The search for how many I/Os a task can have in flight.
#[derive(Debug)]
struct Search {
    target: LatencyTarget,
    depth: u32,
    /// The most that met the target, and the least that did not.
    met: u32,
    missed: u32,
    window: Instant,
    ios: u64,
    late: u64,
}

/// How long a task may be slower than it must, at its beginning. Measured with fio 3.33.
const SETTLING: Span = Span::from_s(2);
const SECOND: Span = Span::from_s(1);
/// How long before the first jobs begin the clock starts whose seconds are looked at. Measured with
/// fio 3.33.
const START_UP: Span = Span::from_ms(108);
const MILLION: u128 = 1_000_000;

impl Watching {
    pub(crate) fn new(spec: &Watch) -> Option<Box<Self>> {
        let is_any = spec != &Watch::default();
        is_any.then(|| {
            Box::new(Self {
                spec: spec.clone(),
                began: Instant::ZERO,
                ios: PerOp::all(0),
                bytes: PerOp::all(0),
                cycle: Cycle::default(),
                seconds: Seconds::default(),
                search: spec.target.map(Search::new),
            })
        })
    }

    /// Begins to measure, for a task that has a ramp of this length. Returns how many I/Os the task
    /// keeps in flight at first, if that is searched for.
    pub(crate) fn begin(&mut self, now: Instant, ramp: Span) -> Option<u32> {
        self.began = now;
        if let Some(steady) = self.spec.steady {
            self.seconds = Seconds::new(now, ramp, steady.ramp);
        }
        let search = self.search.as_mut()?;
        search.window = now;
        Some(search.depth)
    }

    /// Notes an I/O of the task that is done.
    pub(crate) fn note(&mut self, now: Instant, op: Op, bytes: u64, latency: Span) -> Outcome {
        let is_steady = self.spec.steady.is_some_and(|steady| self.is_steady(now, steady));
        *self.ios.of_mut(op) += 1;
        *self.bytes.of_mut(op) += bytes;
        if self.spec.longest.is_some_and(|longest| latency > longest) {
            return Outcome::End(Verdict::TooLong);
        }
        if self.spec.least.is_some_and(|least| self.is_too_slow(now, least)) {
            return Outcome::End(Verdict::TooSlow);
        }
        if is_steady {
            return Outcome::End(Verdict::Steady);
        }
        self.search.as_mut().map_or(Outcome::Nothing, |search| search.note(now, latency))
    }

    fn is_too_slow(&mut self, now: Instant, least: LeastRate) -> bool {
        if now < self.began + SETTLING {
            return false;
        }
        let since = *self.cycle.since.get_or_insert(now);
        if since == now {
            (self.cycle.ios, self.cycle.bytes) = (self.ios, self.bytes);
        }
        let elapsed = now - since;
        if elapsed < least.cycle || elapsed == Span::ZERO {
            return false;
        }
        let below = |least: &PerOp<Option<u64>>, done: &PerOp<u64>, before: &PerOp<u64>| {
            [Op::Read, Op::Write, Op::Discard].into_iter().any(|op| {
                let done = u128::from(done.of(op) - before.of(op)) * u128::from(SECOND.as_ns());
                let least = least.of(op).map(u128::from);
                least.is_some_and(|least| done < least * u128::from(elapsed.as_ns()))
            })
        };
        let is_below = below(&least.ios_per_s, &self.ios, &self.cycle.ios)
            || below(&least.bytes_per_s, &self.bytes, &self.cycle.bytes);
        let (ios, bytes) = (self.ios, self.bytes);
        self.cycle = Cycle { since: Some(now), ios, bytes };
        is_below
    }

    /// Whether what was done before `now` is steady.
    fn is_steady(&mut self, now: Instant, steady: Steady) -> bool {
        let PerOp { read, write, trim } = if steady.bytes { &self.bytes } else { &self.ios };
        let all = read + write + trim;
        let count = (steady.lasting.as_ns() / SECOND.as_ns()).max(1) as usize;
        while self.seconds.next <= now {
            self.seconds.end_one(all, count);
            if self.seconds.done.len() == count && self.seconds.is_within(steady) {
                return true;
            }
        }
        false
    }
}

impl Seconds {
    /// The seconds of a task that begins `now`. They are those of the run, unless a ramp of the
    /// task starts them anew; those that end within `skipped` do not count.
    fn new(now: Instant, ramp: Span, skipped: Span) -> Self {
        let counted = now + ramp;
        let run = (counted + START_UP) - Instant::ZERO;
        let passed = Span::from_ns(run.as_ns() % SECOND.as_ns());
        let mut next = if ramp > Span::ZERO { counted } else { counted + (SECOND - passed) };
        while next < counted + skipped {
            next += SECOND;
        }
        let at_once = ramp == Span::ZERO && skipped == Span::ZERO;
        Self { next, since: at_once.then_some((now, 0)), done: VecDeque::new() }
    }

    /// Ends a second before which all this was done; at most `count` are kept.
    fn end_one(&mut self, all: u64, count: usize) {
        if let Some((since, before)) = self.since {
            let ns = u128::from((self.next - since).as_ns().max(1));
            let done = u128::from(all - before) * u128::from(SECOND.as_ns()) / ns;
            self.done.push_back(done as u64);
        }
        if self.done.len() > count {
            self.done.pop_front();
        }
        self.since = Some((self.next, all));
        self.next += SECOND;
    }

    /// Whether what was done in these seconds is as steady as asked.
    fn is_within(&self, steady: Steady) -> bool {
        let count = self.done.len() as i128;
        let sum: i128 = self.done.iter().map(|done| i128::from(*done)).sum();
        // All amounts below are multiplied by `scale`, and so is the limit.
        let (change, scale) = if steady.slope {
            let (mut sum_of_x, mut squares, mut products) = (0_i128, 0_i128, 0_i128);
            for (x, done) in (0_i128..).zip(&self.done) {
                sum_of_x += x;
                squares += x * x;
                products += x * i128::from(*done);
            }
            let below = (count * squares - sum_of_x * sum_of_x).max(1);
            ((count * products - sum_of_x * sum).abs(), below)
        } else {
            let distances = self.done.iter().map(|done| (i128::from(*done) * count - sum).abs());
            (distances.max().unwrap_or(0), count)
        };
        let million = MILLION as i128;
        match steady.limit {
            Limit::Millionths(limit) => change * million <= i128::from(limit) * scale,
            Limit::OfMean(limit) => change * million * count <= i128::from(limit) * scale * sum,
        }
    }
}

impl Search {
    fn new(target: LatencyTarget) -> Self {
        let missed = target.depth_max.saturating_add(1);
        let (window, ios, late) = (Instant::ZERO, 0, 0);
        Self { target, depth: 1, met: 0, missed, window, ios, late }
    }

    fn note(&mut self, now: Instant, latency: Span) -> Outcome {
        self.ios += 1;
        self.late += u64::from(latency > self.target.latency);
        if now - self.window < self.target.window {
            return Outcome::Nothing;
        }
        let is_met = u128::from(self.ios - self.late) * MILLION
            >= u128::from(self.target.millionths) * u128::from(self.ios);
        (self.window, self.ios, self.late) = (now, 0, 0);
        if is_met {
            self.met = self.depth;
        } else {
            self.missed = self.depth;
        }
        let next = if self.missed <= self.met + 1 {
            None
        } else if self.missed > self.target.depth_max {
            Some(self.met.saturating_mul(2).clamp(1, self.target.depth_max))
        } else {
            Some(self.met.midpoint(self.missed))
        };
        match (next, self.target.goes_on) {
            (Some(depth), _) => self.keep(depth),
            (None, false) if self.met == 0 => Outcome::End(Verdict::OutOfReach),
            (None, false) => Outcome::End(Verdict::Found { depth: self.met }),
            (None, true) => {
                // The search begins anew at the number found, as what is possible may change.
                let depth = self.met.max(1);
                (self.met, self.missed) = (depth / 2, self.target.depth_max.saturating_add(1));
                self.keep(depth)
            }
        }
    }

    const fn keep(&mut self, depth: u32) -> Outcome {
        self.depth = depth;
        Outcome::Depth(depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(at: u64) -> Instant {
        Instant::from_ns(at * 1_000_000_000)
    }

    #[test]
    fn the_deepest_queue_is_found_that_has_the_latency() {
        for (per_io_us, expected) in [(10, 20), (100, 2), (201, 0), (1, 64)] {
            let target = LatencyTarget {
                latency: Span::from_us(200),
                window: Span::from_ms(10),
                millionths: 1_000_000,
                goes_on: false,
                depth_max: 64,
            };
            let spec = Watch { target: Some(target), ..Watch::default() };
            let mut watching = Watching::new(&spec).expect("it looks at something");
            let mut depth =
                u64::from(watching.begin(Instant::ZERO, Span::ZERO).expect("it searches"));
            let verdict = (1..100).find_map(|window| {
                let now = Instant::from_ns(window * 10_000_000);
                match watching.note(now, Op::Read, 4096, Span::from_us(per_io_us * depth)) {
                    Outcome::Depth(next) => depth = u64::from(next),
                    Outcome::End(verdict) => return Some(verdict),
                    Outcome::Nothing => {}
                }
                None
            });
            let found = match expected {
                0 => Verdict::OutOfReach,
                depth => Verdict::Found { depth },
            };
            assert_eq!(verdict, Some(found), "{per_io_us}");
        }
    }

    #[test]
    fn what_is_steady_ends_after_as_many_seconds_as_asked() {
        let steady = |slope, limit| Steady {
            bytes: false,
            slope,
            limit,
            lasting: Span::from_s(3),
            ramp: Span::ZERO,
        };
        let amounts = [400, 300, 200, 100, 104, 98, 101, 102];
        let end = |steady: Steady| {
            let spec = Watch { steady: Some(steady), ..Watch::default() };
            let mut watching = Watching::new(&spec).expect("it looks at something");
            watching.begin(Instant::ZERO, Span::ZERO);
            (1..=amounts.len() as u64).find(|at| {
                let ios = amounts[*at as usize - 1];
                let within = (1..ios)
                    .map(|io| {
                        watching.note(second(at - 1) + Span::from_us(io), Op::Read, 1, Span::ZERO)
                    })
                    .all(|outcome| outcome == Outcome::Nothing);
                assert!(within);
                watching.note(second(*at), Op::Read, 1, Span::ZERO) != Outcome::Nothing
            })
        };
        assert_eq!(end(steady(false, Limit::OfMean(50_000))), Some(6), "5 % of the mean");
        assert_eq!(end(steady(false, Limit::Millionths(2_500_000))), Some(8), "2.5 a second");
        assert_eq!(end(steady(true, Limit::Millionths(1_000_000))), Some(6), "a slope of 1");
        assert_eq!(end(steady(true, Limit::Millionths(10_000))), None);
    }

    #[test]
    fn who_is_too_slow_ends_in_the_third_second() {
        let least = LeastRate {
            bytes_per_s: PerOp::all(None),
            ios_per_s: PerOp { read: Some(100), write: None, trim: None },
            cycle: SECOND,
        };
        let end = |apart_us: u64| {
            let spec = Watch { least: Some(least), ..Watch::default() };
            let mut watching = Watching::new(&spec).expect("it looks at something");
            watching.begin(Instant::ZERO, Span::ZERO);
            (1..10_000_000 / apart_us).map(|io| Instant::from_ns(io * apart_us * 1000)).find(
                |now| {
                    watching.note(*now, Op::Read, 4096, Span::ZERO)
                        == Outcome::End(Verdict::TooSlow)
                },
            )
        };
        assert_eq!(end(20_000), Some(second(3)));
        assert_eq!(end(9_000), None);
    }
}
