//! Measures the calls of an elevator. A timed run suggests which calls of each kind may be the
//! worst, and in a second, identical run the instructions of these are counted. On a busy machine
//! the wrong calls may be counted, but the counts are right.

use crate::counting::allocations;
use crate::steps;
use std::collections::{BTreeMap, BTreeSet};

/// The most calls in which tables may grow. They are rare and left out, because their cost is
/// spread over all calls since the last growth.
const GROWTHS_MAX: usize = 200;

/// The instructions of the worst calls of each kind.
pub(crate) type Worst = BTreeMap<&'static str, u64>;

/// The kind and the time of a call.
type Timed = (&'static str, u64);

#[derive(Debug)]
enum Mode {
    Time(Vec<Timed>),
    /// Count the instructions of these calls.
    Count(BTreeSet<usize>, Worst),
}

/// Observes each call.
#[derive(Debug)]
pub(crate) struct Meter {
    mode: Mode,
    calls: usize,
    /// Calls before this one are not observed.
    from: usize,
    growths: usize,
}

impl Meter {
    fn new(mode: Mode) -> Self {
        Self { mode, calls: 0, from: usize::MAX, growths: 0 }
    }

    /// The number of calls so far.
    pub(crate) const fn calls(&self) -> usize {
        self.calls
    }

    /// Starts to observe; earlier calls were preparation.
    pub(crate) const fn begin(&mut self) {
        self.from = self.calls;
    }

    /// Makes and observes a call.
    pub(crate) fn call<T>(&mut self, kind: &'static str, call: impl FnOnce() -> T) -> T {
        let at = self.calls;
        self.calls += 1;
        if at < self.from {
            return call();
        }
        let before = allocations();
        match &mut self.mode {
            Mode::Time(times) => {
                let began = now_ns();
                let result = call();
                let took = now_ns() - began;
                let grew = allocations() > before;
                self.growths += usize::from(grew);
                times.push((kind, if grew { 0 } else { took }));
                result
            }
            Mode::Count(chosen, worst) if chosen.contains(&(at - self.from)) => {
                let (result, steps) = steps::count(call);
                let most = worst.entry(kind).or_default();
                *most = (*most).max(steps);
                result
            }
            Mode::Count(..) => call(),
        }
    }
}

/// The worst calls made by `run`, which must be the same each time, except for some kinds;
/// `counted` of each kind are counted.
pub(crate) fn worst(excepted: &[&str], counted: usize, run: &impl Fn(Meter) -> Meter) -> Worst {
    let mut times = timed(run);
    // Other programs delay a call now and then, but not the same one twice.
    for (time, again) in times.iter_mut().zip(timed(run)) {
        time.1 = time.1.min(again.1);
    }
    let chosen = candidates(excepted, counted, &times);
    match run(Meter::new(Mode::Count(chosen, Worst::new()))).mode {
        Mode::Count(_, worst) => worst,
        Mode::Time(_) => unreachable!("it was to count"),
    }
}

fn timed(run: &impl Fn(Meter) -> Meter) -> Vec<Timed> {
    let Meter { mode, growths, .. } = run(Meter::new(Mode::Time(Vec::new())));
    assert!(growths <= GROWTHS_MAX, "{growths} calls allocated");
    match mode {
        Mode::Time(times) => times,
        Mode::Count(..) => unreachable!("it was to time"),
    }
}

/// The `counted` longest calls of each kind.
fn candidates(excepted: &[&str], counted: usize, times: &[Timed]) -> BTreeSet<usize> {
    let mut by_kind: BTreeMap<&str, Vec<(u64, usize)>> = BTreeMap::new();
    let judged = times.iter().enumerate().filter(|(_, (kind, _))| !excepted.contains(kind));
    for (at, (kind, time)) in judged {
        by_kind.entry(kind).or_default().push((*time, at));
    }
    let longest = by_kind.into_values().flat_map(|mut calls| {
        calls.sort_unstable_by(|one, other| other.cmp(one));
        calls.truncate(counted);
        calls
    });
    longest.map(|(_, at)| at).collect()
}

#[expect(clippy::disallowed_methods, reason = "it says which calls to look at, and nothing else")]
fn now_ns() -> u64 {
    use std::sync::LazyLock;
    static START: LazyLock<std::time::Instant> = LazyLock::new(std::time::Instant::now);
    START.elapsed().as_nanos() as u64
}
