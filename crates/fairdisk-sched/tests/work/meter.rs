//! What the calls of an elevator take. A run in which they are timed says which may be the worst
//! of each kind, and in a second run, which is the same, the instructions of these are counted.
//! So a loaded machine can make it look at the wrong ones, but not at a wrong number.

use crate::counting::allocations;
use crate::steps;
use std::collections::{BTreeMap, BTreeSet};

/// Calls that make tables grow are rare, and left out: what that takes is spread over all calls
/// since it happened last.
const GROWTHS_MAX: usize = 200;

/// The worst of each kind of call, in instructions.
pub(crate) type Worst = BTreeMap<&'static str, u64>;

/// Kind and time of a call.
type Timed = (&'static str, u64);

#[derive(Debug)]
enum Mode {
    Time(Vec<Timed>),
    /// Which calls are counted.
    Count(BTreeSet<usize>, Worst),
}

/// Looks at each call.
#[derive(Debug)]
pub(crate) struct Meter {
    mode: Mode,
    calls: usize,
    /// Those before are not looked at.
    from: usize,
    growths: usize,
}

impl Meter {
    fn new(mode: Mode) -> Self {
        Self { mode, calls: 0, from: usize::MAX, growths: 0 }
    }

    /// So many calls were made.
    pub(crate) const fn calls(&self) -> usize {
        self.calls
    }

    /// What was made until now was to get there.
    pub(crate) const fn begin(&mut self) {
        self.from = self.calls;
    }

    /// Makes a call.
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

/// The worst calls, but for some kinds, of what `run` does, which is the same each time; so many
/// of each kind are counted.
pub(crate) fn worst(excepted: &[&str], counted: usize, run: &impl Fn(Meter) -> Meter) -> Worst {
    let mut times = timed(run);
    // What others on the machine do adds to a call now and then, but not to the same one again.
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

/// The `counted` that took longest, of each kind.
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
