//! What each rule of `fair` is worth on real storage: what is lost without it, load by load, in the
//! same turns.

use super::figures::median;
use super::loads::Load;
use super::report::{kept, line};
use super::settings::Scheduler;
use super::turns::{Measured, Outcome, Sample};

/// How far the first got from its part, in points, in one sample.
fn error(load: &Load, sample: &Sample) -> f64 {
    let [first, second] = [0, 1].map(|job| kept(sample, job));
    (100.0 * first / (first + second) - load.asked_percent()).abs()
}

/// What all jobs do, in parts of what each does alone.
fn throughput(sample: &Sample) -> f64 {
    (0..sample.alone.len()).map(|job| kept(sample, job)).sum()
}

/// The points lost without a rule, or the part of its rate alone that the first keeps without it
/// beside that with it, and the throughput likewise.
fn worth(measured: &Measured, with: usize, without: usize) -> Option<String> {
    let load = &measured.load;
    let of =
        |at: usize, value: &dyn Fn(&Sample) -> f64| median(measured.samples[at].iter().map(value));
    let ratio = |value: &dyn Fn(&Sample) -> f64| Some(of(without, value)? / of(with, value)?);
    let first = if load.family.has_shares() {
        let points = |at| of(at, &|sample| error(load, sample));
        format!("{:+.0}", points(without)? - points(with)?)
    } else {
        format!("×{:.2}", ratio(&|sample| kept(sample, 0))?)
    };
    Some(format!("{first}, ×{:.2}", ratio(&throughput)?))
}

/// The table, if `fair` was measured with all rules and without some.
pub(super) fn table(outcome: &Outcome) -> String {
    let at = |wanted: &Scheduler| outcome.schedulers.iter().position(|one| one == wanted);
    let without: Vec<&Scheduler> =
        outcome.schedulers.iter().filter(|one| one.without.is_some()).collect();
    let Some(with) = at(&Scheduler::FAIR).filter(|_| !without.is_empty()) else {
        return String::new();
    };
    let loads: Vec<&Measured> =
        outcome.loads.iter().filter(|measured| measured.load.jobs.len() > 1).collect();
    let heads = loads.iter().map(|measured| format!("`{}`", measured.load.name));
    let head = line(["without".to_owned()].into_iter().chain(heads));
    let rule = "|".to_owned() + &"---|".repeat(1 + loads.len()) + "\n";
    let lines = without.into_iter().map(|scheduler| {
        let name = format!("`{}`", scheduler.without.unwrap_or_default());
        let place = at(scheduler).unwrap_or(with);
        let cell = |measured: &&Measured| worth(measured, with, place).unwrap_or_default();
        line([name].into_iter().chain(loads.iter().map(cell)))
    });
    head + &rule + &lines.collect::<String>()
}
