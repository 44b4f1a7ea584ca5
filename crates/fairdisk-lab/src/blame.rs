//! Which changes cost what: the changes between a good and a bad state are factors, and runs of
//! mixtures of both tell how much of the loss belongs to each of them, and to each pair.
//!
//! 1. [`screen`]: walks from good to bad in several orders find the changes that do anything. A
//!    stretch of a walk is divided where its ends differ; who acts only beside another, or is
//!    cancelled by another, is seen because the orders differ.
//! 2. [`attribute`]: the Shapley value of each of these, exactly or from sampled orders. What the
//!    others change together is measured as one. The parts sum to the whole.
//! 3. [`undo`], [`bisect`]: what to undo, and what a bisection would have answered.
//!
//! [`blame`] does not know what is measured: see [`Measure`]. [`Between`] measures mixtures of two
//! schedulers in the lab; a [`Report`] says what came out.

mod attribute;
mod between;
mod bisect;
mod divergence;
mod factors;
mod findings;
mod metric;
mod noise;
mod report;
mod runs;
mod screen;
mod set;
mod undo;

pub use between::{Between, Planner};
pub use bisect::{Bisection, Step};
pub use divergence::{Chosen, Divergence, Move, MoveKind, divergence};
pub use factors::{Difference, Factor, Side};
pub use findings::{Effect, Ends, Findings, Method, Pair, Rest, Undo};
pub use metric::Metric;
pub use noise::Noise;
pub use report::{About, Change, Report, to_html, to_json, to_table};
pub use runs::{Halt, Measure, Runs, Sample, Watch};
pub use set::{FACTORS_MAX, FactorSet};

use std::sync::atomic::AtomicBool;

/// How to go about it.
#[derive(Clone, Debug)]
pub struct Design {
    /// How many changes there are; they are numbered in the order in which they were made.
    pub factors: usize,
    /// Runs of each mixture, numbered from 0, to begin with.
    pub seeds: u32,
    /// As many at most in the lab, where chance hides what is of interest; a few more where few
    /// mixtures tell of chance. The same number as `seeds` means exactly so many.
    pub seeds_max: u32,
    /// At most so many runs.
    pub runs: usize,
    /// Where the order of walks is drawn from.
    pub seed: u64,
    /// Runs at the same time.
    pub threads: usize,
    /// Runs are of the real world: those needed together are done in random order, and what is left
    /// of the budget goes into more runs of each mixture.
    pub is_real: bool,
}

/// As many changes are taken apart without looking for those that act first.
const FEW: usize = 4;
/// As many times the smallest difference of interest must be beyond chance.
const SEEN: f64 = 2.0;
/// With fewer degrees of freedom chance could be several times of what it seems,
const FREEDOM_LEAST: f64 = 10.0;
/// and each mixture may be run so often.
const SEEDS_OF_FEW_MAX: u32 = 12;
/// Parts of the budget that the search may use, in percent.
const SEARCH_PERCENT: usize = 70;

/// Finds out which changes cost what. `prior` are runs done before, which are not done again but
/// count as runs, so that what is found does not depend on them.
///
/// # Errors
/// A run failed.
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
        // All in one go: the ends too are run among the others.
        let mixtures = 0..1_usize << design.factors;
        let bits = |mask: usize| (0..design.factors).filter(move |bit| mask >> bit & 1 == 1);
        match runs.need(&mixtures.map(|mask| bits(mask).collect()).collect::<Vec<_>>()) {
            // What there is goes to the ends first.
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

/// Searches for the changes that do anything, again with one more run of each mixture as long as
/// chance hides what is of interest.
fn search(runs: &mut Runs<'_>, design: &Design, findings: &mut Findings) -> Result<(), Halt> {
    loop {
        if fits_whole(design) {
            findings.suspects = FactorSet::first(design.factors);
        } else {
            let mut screen = screen::Screen::new(design);
            let searched = screen.search(runs);
            // One that had not the runs to end its walks has not looked at what others found.
            findings.suspects = match searched {
                Ok(()) => screen.active(),
                Err(_) => findings.suspects.union(screen.active()),
            };
            searched?;
        }
        let noise = Noise::of(runs, FactorSet::first(design.factors));
        let is_seen = noise.limit(runs.seeds(), 1.0) <= SEEN * noise.least;
        // Where all but a few mixtures do the same, little is known of chance, and runs are few.
        let seeds_max = match noise.freedom < FREEDOM_LEAST && design.seeds_max > design.seeds {
            true => SEEDS_OF_FEW_MAX.max(design.seeds_max),
            false => design.seeds_max,
        };
        if is_seen || design.is_real || runs.seeds() >= seeds_max || !runs.more_seeds()? {
            return Ok(());
        }
    }
}

/// Whether every mixture can be run, so that there is nothing to search for.
fn fits_whole(design: &Design) -> bool {
    let mixtures = 1_usize.checked_shl(design.factors as u32).unwrap_or(usize::MAX);
    let affordable = design.is_real && design.factors < 16;
    design.factors <= FEW
        || affordable && mixtures.saturating_mul(design.seeds as usize) <= design.runs
}

/// Spends what is left of the budget on more runs of the mixtures that count.
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
