//! How much memory a load needs: sizes are tried in the lab until it is known with how little the
//! load keeps a part of what it does with plenty.
//!
//! The figures of the sizes are a sweep over `host.memory.mib`, and are told as one.

mod search;
mod told;

pub use search::Sizes;
pub use told::{MemoryResults, to_html, to_json, to_table};

use crate::metric::Metric;
use crate::plan::Plan;
use crate::run::{Progress, Silent};
use crate::sweep::{Keeper, Measured, Point, Sweep, SweepOutcome, sweep};
use search::Size;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The key of the size.
pub const KEY: &str = "host.memory.mib";

/// The metrics that decide, with their places among those of a size.
const METRICS: [Metric; 6] =
    [Metric::Mbps, Metric::P99, Metric::Missed, Metric::Again, Metric::MemoryWait, Metric::Touched];

/// What is known of how much memory a load needs.
#[derive(Clone, Debug)]
pub struct Need {
    /// The part of what it does with plenty that it is to keep, in percent.
    pub want_percent: f64,
    /// The kernel whose memory management it is.
    pub kernel: String,
    /// The smallest size that keeps it, and what is plenty, in MiB; `None` if not found out yet.
    pub enough_mib: Option<u64>,
    /// A size with which nothing is read again and nobody waits, or the largest.
    pub plenty_mib: Option<u64>,
    /// The sizes with their figures.
    pub curves: SweepOutcome,
}

/// Parses a percentage, with its sign or without.
///
/// # Errors
/// Returns what was expected.
pub fn percent(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.strip_suffix('%').unwrap_or(text).trim().parse().ok();
    let allowed = number.filter(|percent| (1.0..=100.0).contains(percent));
    allowed.ok_or_else(|| "expected 1% to 100%, as in 95%".to_owned())
}

/// Plans the load for a size.
pub type AtSize<'a> = &'a dyn Fn(u64) -> Result<Plan, String>;

/// Finds out how much memory a load needs to keep `want_percent` of its throughput. Setting `stop`
/// ends early with what is known.
///
/// # Errors
/// Returns an error if the load has several rows or arms, or cannot be run.
pub fn need(
    plan_at: AtSize<'_>,
    want_percent: f64,
    keeper: &dyn Keeper,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<Need, String> {
    let largest = plan_at(Sizes::LARGEST)?;
    if largest.rig.host.memory.kernel.is_none() {
        return Err(format!("{}: a host without memory page by page", largest.id));
    }
    demand_one(&largest)?;
    let kept = Remembered { keeper, known: Mutex::default() };
    let mut sizes = Sizes::new(want_percent / 100.0);
    while let Some(mib) = sizes.next() {
        let mib = mib.into_iter().filter(|mib| plan_at(*mib).is_ok() || sizes.rules_out(*mib));
        let mib: Vec<u64> = mib.collect();
        if mib.is_empty() {
            continue;
        }
        let before = sizes.all().len();
        let curves = measure(plan_at, &mib, &kept, progress, stop)?;
        let points = curves.curves.iter().flat_map(|curve| &curve.points);
        points.filter_map(size).for_each(|(mib, size)| sizes.tried(mib, size));
        if stop.load(Ordering::Relaxed) || !curves.refused.is_empty() {
            break;
        }
        if sizes.all().len() == before {
            return Err("no I/O finished in a run; make it longer with --duration".to_owned());
        }
    }
    // All runs are known by now.
    let curves = measure(plan_at, &sizes.all(), &kept, &Silent, &AtomicBool::new(false))?;
    let kernel = largest.rig.host.memory.kernel.map(|it| it.name().to_owned());
    Ok(Need {
        want_percent,
        kernel: kernel.unwrap_or_default(),
        enough_mib: sizes.enough(),
        plenty_mib: sizes.plenty(),
        curves,
    })
}

fn demand_one(plan: &Plan) -> Result<(), String> {
    let several = |what: &str, names: Vec<&str>| {
        let names = names.join("`, `");
        format!("{} has several {what}s; choose one with --{what}: `{names}`", plan.id)
    };
    if plan.rows.len() > 1 {
        return Err(several("row", plan.rows.iter().map(|row| row.label.as_str()).collect()));
    }
    if plan.arms.len() > 1 {
        return Err(several("arm", plan.arms.iter().map(|arm| arm.name.as_str()).collect()));
    }
    Ok(())
}

/// The curves over these sizes.
fn measure(
    plan_at: AtSize<'_>,
    mib: &[u64],
    keeper: &dyn Keeper,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<SweepOutcome, String> {
    let plans = mib.iter().map(|mib| plan_at(*mib)).collect::<Result<Vec<_>, _>>()?;
    let values: Vec<String> = mib.iter().map(u64::to_string).collect();
    let over = Sweep::parse(&format!("{KEY}={}", values.join(",")))?;
    sweep(&over, &plans, &METRICS, keeper, progress, stop)
}

/// What decides about a size.
fn size(point: &Point) -> Option<(u64, Size)> {
    let mean = |at: usize| Some(point.figures.get(at)?.as_ref()?.mean);
    let [mb_per_s, again, waits, touched] = [0, 3, 4, 5].map(mean);
    let size = Size {
        mb_per_s: mb_per_s?,
        again_percent: again?,
        waits_percent: waits?,
        touched_mib: touched?,
    };
    Some((point.value.parse().ok()?, size))
}

/// Keeps runs, and remembers them itself.
struct Remembered<'a> {
    keeper: &'a dyn Keeper,
    known: Mutex<BTreeMap<(String, u32), Measured>>,
}

impl Keeper for Remembered<'_> {
    fn known(&self, identity: &str, seed: u32) -> Option<Measured> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let run = known.get(&(identity.to_owned(), seed)).cloned();
        drop(known);
        run.or_else(|| self.keeper.known(identity, seed))
    }

    fn keep(&self, identity: &str, seed: u32, measured: &Measured) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert((identity.to_owned(), seed), measured.clone());
        drop(known);
        self.keeper.keep(identity, seed, measured);
    }
}
