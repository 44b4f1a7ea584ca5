//! The report as JSON. The names are an interface for other tools.

use super::{Change, Report};
use crate::blame::{
    Bisection, Chosen, Divergence, Effect, FactorSet, Halt, Method, Move, MoveKind, Pair, Rest,
    Step, Undo,
};
use crate::outcome::Spread;
use crate::results::{Allowed, SCHEMA, value};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// What `fairdisk blame` prints. Changes are given by their names.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BlameResults {
    /// Another number if a name changes its meaning.
    schema: u32,
    /// What was run.
    title: String,
    /// `lab`, `command` or `git`.
    shell: &'static str,
    /// Where it was run.
    place: String,
    /// What is compared, as on the command line.
    metric: String,
    /// What is compared, in words.
    unit: String,
    /// The name of the good end.
    good: String,
    /// The name of the bad end.
    bad: String,
    /// The changes between the ends, in their order.
    changes: Vec<ChangeResults>,
    /// How many runs were done.
    runs: usize,
    /// Runs of each mixture.
    seeds: u32,
    /// Both ends; null if they were not measured.
    ends: Option<Ends>,
    /// The standard deviation of a run.
    noise_sd: f64,
    /// Changes that made a difference in some mixture.
    suspects: Vec<String>,
    /// Changes whose part is more than the noise.
    to_blame: Vec<String>,
    /// How parts were found; null if they were not looked for.
    method: Option<Method>,
    /// What each suspect is to blame for.
    effects: Vec<EffectResults>,
    /// What all other changes are to blame for.
    rest: Option<RestResults>,
    /// Pairs whose changes do more or less together than each alone.
    pairs: Vec<PairResults>,
    /// Pairs of which neither does anything alone.
    together: Vec<[String; 2]>,
    /// Every mixture that was run.
    mixtures: Vec<Mixture>,
    /// What to undo.
    undo: Option<UndoResults>,
    /// What a bisection finds.
    bisection: Option<BisectionResults>,
    /// The first decision in which the runs of both ends differ.
    divergence: Option<DivergenceResults>,
    /// What a source gives of the difference between the ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<Allowed>,
    /// What to know before reading the figures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    caveats: Vec<String>,
    /// What was tried as the cause of a difference from published figures and is not the cause.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    excluded: Vec<String>,
    /// Why not all was looked for: `interrupted` or `budget`.
    #[serde(skip_serializing_if = "Option::is_none")]
    partial: Option<&'static str>,
}

/// A change.
#[derive(Debug, Serialize, JsonSchema)]
struct ChangeResults {
    name: String,
    /// The value before.
    good: String,
    /// The value after; `not set` where a file does not say.
    bad: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
}

/// Both ends.
#[derive(Debug, Serialize, JsonSchema)]
struct Ends {
    good: End,
    bad: End,
    /// What is divided among the changes.
    whole: f64,
    /// Whether it is more than the noise.
    differ: bool,
}

/// An end.
#[derive(Debug, Serialize, JsonSchema)]
struct End {
    mean: f64,
    sd: f64,
    /// That of each run.
    values: Vec<f64>,
}

/// What a change is to blame for.
#[derive(Debug, Serialize, JsonSchema)]
struct EffectResults {
    change: String,
    /// Its part of the whole, in the unit.
    part: f64,
    part_sd: f64,
    /// What it does by itself, after the good end.
    alone: Option<f64>,
    /// What undoing it alone gives back, before the bad end.
    undone: Option<f64>,
    /// Whether it is not more than the noise.
    within_noise: bool,
}

/// What the changes that are no suspects are to blame for.
#[derive(Debug, Serialize, JsonSchema)]
struct RestResults {
    changes: Vec<String>,
    part: f64,
    part_sd: f64,
    within_noise: bool,
}

/// Two changes.
#[derive(Debug, Serialize, JsonSchema)]
struct PairResults {
    changes: [String; 2],
    /// What both do beyond the sum of what each does.
    interaction: f64,
    interaction_sd: f64,
    within_noise: bool,
}

/// A mixture.
#[derive(Debug, Serialize, JsonSchema)]
struct Mixture {
    /// The changes that were made.
    bad: Vec<String>,
    /// That of each run.
    values: Vec<f64>,
}

/// What to undo.
#[derive(Debug, Serialize, JsonSchema)]
struct UndoResults {
    changes: Vec<String>,
    /// The metric without them.
    value: f64,
    value_sd: f64,
    /// The part of the whole that it recovers.
    recovers: f64,
    /// Whether that is enough.
    enough: bool,
    /// Whether no smaller set does.
    smallest: bool,
}

/// A bisection.
#[derive(Debug, Serialize, JsonSchema)]
struct BisectionResults {
    /// The changes that bisections end at.
    answers: Vec<String>,
    /// What undoing each of them alone recovers.
    undone_alone: Vec<Undone>,
    /// How far from the line between good and bad the nearest mixture is, in standard deviations.
    nearest_sd: Option<f64>,
    /// The steps of each.
    ways: Vec<Vec<Step>>,
}

/// A change that is undone alone.
#[derive(Debug, Serialize, JsonSchema)]
struct Undone {
    change: String,
    recovers: f64,
}

/// Where runs begin to differ.
#[derive(Debug, Serialize, JsonSchema)]
struct DivergenceResults {
    seed: u32,
    at_ms: f64,
    /// How many decisions are equal before.
    equal_decisions: u64,
    good: Decision,
    bad: Decision,
    /// Of several disks, which.
    #[serde(skip_serializing_if = "Option::is_none")]
    disk: Option<u32>,
}

/// A decision.
#[derive(Debug, Serialize, JsonSchema)]
struct Decision {
    at_ms: f64,
    /// What it was.
    words: String,
    /// Its reason.
    why: Option<String>,
    /// The request that was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<Chosen>,
}

/// The report as one JSON object.
#[must_use]
pub fn to_json(report: &Report) -> Value {
    value(&BlameResults::from(report))
}

impl From<&Report> for BlameResults {
    fn from(report: &Report) -> Self {
        let found = &report.findings;
        let end = |values: &Vec<f64>| {
            let Spread { mean, sd } = Spread::of(values);
            End { mean, sd, values: values.clone() }
        };
        Self {
            schema: SCHEMA,
            title: report.title.clone(),
            shell: report.shell,
            place: report.place.clone(),
            metric: report.metric.clone(),
            unit: report.unit.clone(),
            good: report.good.clone(),
            bad: report.bad.clone(),
            changes: report.changes.iter().map(ChangeResults::from).collect(),
            runs: found.runs,
            seeds: found.seeds,
            ends: found.ends.as_ref().map(|ends| Ends {
                good: end(&ends.good),
                bad: end(&ends.bad),
                whole: ends.whole(),
                differ: ends.differ,
            }),
            noise_sd: found.noise.of_one_run(),
            suspects: names(report, found.suspects),
            to_blame: names(report, found.culprits()),
            method: found.method,
            effects: found.effects.iter().map(|one| EffectResults::of(report, one)).collect(),
            rest: found.rest.as_ref().map(|one| RestResults::of(report, one)),
            pairs: found.pairs.iter().map(|one| PairResults::of(report, one)).collect(),
            together: found.together().map(|pair| both(report, pair)).collect(),
            mixtures: (found.mixtures.iter())
                .map(|(set, values)| Mixture { bad: names(report, *set), values: values.clone() })
                .collect(),
            undo: found.undo.as_ref().map(|one| UndoResults::of(report, one)),
            bisection: found.bisection.as_ref().map(|one| BisectionResults::of(report, one)),
            divergence: report.divergence.as_ref().map(DivergenceResults::from),
            published: report.published.as_ref().map(Allowed::from),
            caveats: report.caveats.clone(),
            excluded: report.excluded.clone(),
            partial: match found.halt {
                Some(Halt::Interrupted) => Some("interrupted"),
                Some(_) => Some("budget"),
                None => (!found.is_searched).then_some("budget"),
            },
        }
    }
}

fn both(report: &Report, pair: &Pair) -> [String; 2] {
    pair.factors.map(|factor| report.name(factor).to_owned())
}

fn names(report: &Report, set: FactorSet) -> Vec<String> {
    report.names(set).into_iter().map(ToOwned::to_owned).collect()
}

impl From<&Change> for ChangeResults {
    fn from(change: &Change) -> Self {
        let about = change.about.as_ref();
        Self {
            name: change.name.clone(),
            good: change.good.clone(),
            bad: change.bad.clone(),
            commit: about.map(|about| about.commit.clone()),
            author: about.map(|about| about.author.clone()),
            summary: about.map(|about| about.summary.clone()),
        }
    }
}

impl EffectResults {
    fn of(report: &Report, effect: &Effect) -> Self {
        Self {
            change: report.name(effect.factor).to_owned(),
            part: effect.part.mean,
            part_sd: effect.part.sd,
            alone: effect.first,
            undone: effect.undone(),
            within_noise: effect.is_noise,
        }
    }
}

impl RestResults {
    fn of(report: &Report, rest: &Rest) -> Self {
        Self {
            changes: names(report, rest.factors),
            part: rest.part.mean,
            part_sd: rest.part.sd,
            within_noise: rest.is_noise,
        }
    }
}

impl PairResults {
    fn of(report: &Report, pair: &Pair) -> Self {
        Self {
            changes: both(report, pair),
            interaction: pair.interaction.mean,
            interaction_sd: pair.interaction.sd,
            within_noise: pair.is_noise,
        }
    }
}

impl UndoResults {
    fn of(report: &Report, undo: &Undo) -> Self {
        Self {
            changes: names(report, undo.factors),
            value: undo.value.mean,
            value_sd: undo.value.sd,
            recovers: undo.recovers,
            enough: undo.is_enough,
            smallest: undo.is_smallest,
        }
    }
}

impl BisectionResults {
    fn of(report: &Report, bisection: &Bisection) -> Self {
        let name = |at: usize| report.name(at).to_owned();
        let undone =
            |(at, recovers): &(usize, f64)| Undone { change: name(*at), recovers: *recovers };
        Self {
            answers: bisection.answers.iter().map(|at| name(*at)).collect(),
            undone_alone: bisection.recovers.iter().map(undone).collect(),
            nearest_sd: bisection.nearest_sd,
            ways: bisection.ways.clone(),
        }
    }
}

impl From<&Divergence> for DivergenceResults {
    fn from(found: &Divergence) -> Self {
        Self {
            seed: found.seed,
            at_ms: found.at.as_ns() as f64 / 1e6,
            equal_decisions: found.decisions,
            good: (&found.good).into(),
            bad: (&found.bad).into(),
            disk: found.disk,
        }
    }
}

impl From<&Move> for Decision {
    fn from(made: &Move) -> Self {
        let (chosen, why) = match &made.what {
            MoveKind::Chose(chosen, why) => {
                (Some(chosen.as_ref().clone()), Some(format!("{why:?}")))
            }
            MoveKind::Waits(_, why) | MoveKind::WaitsCompletion(why) => {
                (None, Some(format!("{why:?}")))
            }
            MoveKind::Else(_) | MoveKind::Nothing => (None, None),
        };
        Self { at_ms: made.at.as_ns() as f64 / 1e6, words: made.words(), why, request: chosen }
    }
}
