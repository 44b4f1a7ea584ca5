//! Blame: which changes caused how much of a difference. The changes between a good and a bad state
//! are factors, and runs of mixtures of both states show how much of the loss each change and each
//! pair of changes accounts for.
//!
//! 1. `screen` finds the changes that have any effect, by walks from good to bad in several orders.
//!    A stretch of a walk is divided where its ends differ. Changes that act only together, or
//!    cancel each other, show because the orders differ.
//! 2. `attribute` computes the Shapley value of each of these changes, exactly or from sampled
//!    orders. The effect of all other changes is measured as one. The values sum to the whole
//!    difference.
//! 3. `undo` and `bisect` find what to undo, and what a bisection would have answered.
//!
//! [`blame`] does not depend on what is measured: see [`Measure`]. [`Between`] measures mixtures
//! of two schedulers in the lab, and a [`Report`] presents the findings.

mod attribute;
mod between;
mod bisect;
mod divergence;
mod factors;
mod findings;
mod noise;
mod report;
mod runs;
mod screen;
mod set;
mod undo;

pub use crate::metric::Metric;
pub use between::{Between, Planner};
pub use bisect::{Bisection, Step};
pub use divergence::{Chosen, Divergence, Move, MoveKind, divergence};
pub use factors::{Difference, Factor, Side};
pub use findings::{Effect, Ends, Findings, Method, Pair, Rest, Undo};
pub use noise::Noise;
pub use report::{About, BlameResults, Change, Report, to_html, to_json, to_table};
pub use runs::{Halt, Measure, Runs, Sample, Watch};
pub use set::{FACTORS_MAX, FactorSet};

use std::sync::atomic::AtomicBool;

/// The design of an investigation.
#[derive(Clone, Debug)]
pub struct Design {
    /// The number of changes, which are numbered in the order in which they were made.
    pub factors: usize,
    /// The initial number of runs of each mixture, with seeds numbered from 0.
    pub seeds: u32,
    /// The highest number of runs of each mixture, reached in the lab if noise hides differences of
    /// interest. A few more are allowed if few mixtures are available to estimate the noise. Equal
    /// to `seeds`, it fixes the number of runs.
    pub seeds_max: u32,
    /// The budget: the highest number of runs in total.
    pub runs: usize,
    /// Seed of the random orders of walks.
    pub seed: u64,
    /// The number of runs at the same time.
    pub threads: usize,
    /// Whether runs measure the real world. Runs that are needed together are then done in random
    /// order, and the rest of the budget is spent on more runs of each mixture.
    pub is_real: bool,
}

/// Up to this number of changes, all mixtures are run without a search.
const FEW: usize = 4;
/// Noise may be at most this many times the smallest difference of interest.
const SEEN: f64 = 2.0;
/// With fewer degrees of freedom, the noise may be several times its estimate.
const FREEDOM_LEAST: f64 = 10.0;
/// The highest number of runs of each mixture if the degrees of freedom are too few.
const SEEDS_OF_FEW_MAX: u32 = 12;
/// Percentage of the budget that the search may use.
const SEARCH_PERCENT: usize = 70;

/// Determines how much each change contributes. Runs in `prior` were done before; they are not
/// repeated but count as runs, so that the findings do not depend on them.
///
/// # Errors
/// Returns an error if a run fails.
pub fn blame(
    measure: &dyn Measure,
    design: &Design,
    prior: Vec<(FactorSet, u32, Sample)>,
    watch: &dyn Watch,
    stop: &AtomicBool,
) -> Result<Findings, String> {
    let mut runs = Runs::new(measure, design, prior, watch, stop);
    let mut findings = Findings::default();
    let halt = investigate(&mut runs, design, &mut findings).err();
    if halt == Some(Halt::Interrupted) && findings.ends.is_none() {
        let bad = FactorSet::first(design.factors);
        runs.settle_for_less(&[FactorSet::EMPTY, bad]);
        findings.look_at_ends(&runs, bad);
    }
    findings.runs = runs.used();
    findings.mixtures = runs.mixtures();
    match halt {
        Some(Halt::Failed(message)) => return Err(message),
        halt => findings.halt = halt,
    }
    Ok(findings)
}

fn investigate(runs: &mut Runs<'_>, design: &Design, findings: &mut Findings) -> Result<(), Halt> {
    let (good, bad) = (FactorSet::EMPTY, FactorSet::first(design.factors));
    runs.tell("both ends");
    if design.is_real && fits_whole(design) {
        // All mixtures at once, so that the ends too are run in random order among the others.
        let mixtures = 0..1_usize << design.factors;
        let bits = |mask: usize| (0..design.factors).filter(move |bit| mask >> bit & 1 == 1);
        match runs.need(&mixtures.map(|mask| bits(mask).collect()).collect::<Vec<_>>()) {
            // If the budget does not suffice, what there is goes to the ends first.
            Err(Halt::Budget) => {}
            whole => whole?,
        }
    }
    runs.need(&[good, bad])?;
    findings.look_at_ends(runs, bad);
    runs.limit(design.runs * SEARCH_PERCENT / 100);
    let searched = search(runs, design, findings);
    runs.limit(design.runs);
    match searched {
        Ok(()) => findings.is_searched = true,
        Err(Halt::Budget) => {}
        Err(halt) => return Err(halt),
    }
    runs.tell("parts");
    let attributed = attribute::attribute(runs, design, findings.suspects);
    findings.look_at_ends(runs, bad);
    let attributed = attributed?;
    findings.take(runs, attributed);
    runs.tell("bisection");
    findings.bisection = bisect::bisect(runs, design.factors, findings)?;
    runs.tell("what to undo");
    undo::undo(runs, bad, findings)?;
    if design.is_real {
        sharpen(runs, design, findings)?;
    }
    Ok(())
}

/// Searches for the changes that have any effect. Repeats the search with one more run of each
/// mixture while noise hides differences of interest.
fn search(runs: &mut Runs<'_>, design: &Design, findings: &mut Findings) -> Result<(), Halt> {
    loop {
        if fits_whole(design) {
            findings.suspects = FactorSet::first(design.factors);
        } else {
            let mut screen = screen::Screen::new(design);
            let searched = screen.search(runs);
            // A search that ran out of budget has not examined everything that earlier ones found.
            findings.suspects = match searched {
                Ok(()) => screen.active(),
                Err(_) => findings.suspects.union(screen.active()),
            };
            searched?;
        }
        let noise = Noise::of(runs, FactorSet::first(design.factors));
        let is_seen = noise.limit(runs.seeds(), 1.0) <= SEEN * noise.least;
        // If almost all mixtures behave alike, the noise is poorly known and runs are few.
        let seeds_max = match noise.freedom < FREEDOM_LEAST && design.seeds_max > design.seeds {
            true => SEEDS_OF_FEW_MAX.max(design.seeds_max),
            false => design.seeds_max,
        };
        if is_seen || design.is_real || runs.seeds() >= seeds_max || !runs.more_seeds()? {
            return Ok(());
        }
    }
}

/// Whether every mixture can be run, so that no search is needed.
fn fits_whole(design: &Design) -> bool {
    let mixtures = 1_usize.checked_shl(design.factors as u32).unwrap_or(usize::MAX);
    let affordable = design.is_real && design.factors < 16;
    design.factors <= FEW
        || affordable && mixtures.saturating_mul(design.seeds as usize) <= design.runs
}

/// Spends the rest of the budget on more runs of the mixtures that matter.
fn sharpen(runs: &mut Runs<'_>, design: &Design, findings: &mut Findings) -> Result<(), Halt> {
    let bad = FactorSet::first(design.factors);
    runs.tell("again");
    while runs.more_seeds()? {
        findings.look_at_ends(runs, bad);
        let attributed = attribute::again(runs, design, findings);
        findings.take(runs, attributed);
        undo::undo(runs, bad, findings)?;
    }
    Ok(())
}
