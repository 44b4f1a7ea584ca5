//! Results of runs as JSON. The names are an interface for other tools.

mod row;

use super::score::FigureScore;
use super::{ArmOutcome, ChangeOutcome, Outcome, RefusedRow, Regime, Score};
use crate::catalog::experiment::Estimate;
use crate::catalog::host::Host;
use crate::results::{Allowed, Each, SCHEMA, value};
use row::{Row, by_unit};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// What `fairdisk run` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunResults {
    /// Another number if a name changes its meaning.
    schema: u32,
    /// The id of the experiment, or the name of the job file.
    experiment: String,
    /// One line about it.
    title: String,
    /// The source of published figures.
    source: String,
    /// `lab` or `file`.
    shell: &'static str,
    /// The id of the device; `none` for a file at its own pace.
    device: String,
    /// Each arm as it was resolved in its first row.
    arms: Vec<ArmOutcome>,
    /// One for each arm and row.
    rows: Vec<Row>,
    /// The distance from published figures; null without.
    score: Option<ScoreResults>,
    /// What to know before reading the figures.
    caveats: Vec<String>,
    /// What was tried as the cause of a difference from published figures and is not the cause.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    excluded: Vec<String>,
    /// What authors expected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    estimates: Vec<Estimate>,
    /// What schedulers refused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused: Vec<RefusedRow>,
    /// What a source prints about one arm beside another.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<Change>,
    /// The host with all changes; in the lab only.
    #[schemars(with = "Map<String, Value>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<Host>,
    /// What `--set` changed; in the lab only.
    #[serde(skip_serializing_if = "Option::is_none")]
    overrides: Option<Vec<String>>,
}

/// How a row was run on a real file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Backend {
    /// The backend.
    pub name: String,
    /// Why it was chosen.
    pub why: String,
    /// How many requests the device was given.
    pub device_requests: u64,
    /// How many of them failed.
    pub errors: u64,
    /// The first error.
    pub first_error: Option<String>,
    /// How late timers were.
    pub timer_lateness_ms: LatenessMs,
    /// How late completions were; null without a modelled pace.
    pub completion_lateness_ms: Option<LatenessMs>,
}

/// How late events were, in milliseconds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LatenessMs {
    /// How many there were.
    pub count: u64,
    /// Half of them were at most so late.
    pub p50: f64,
    /// 99 of 100 were at most so late.
    pub p99: f64,
    /// The latest.
    pub max: f64,
}

/// What a source prints about one arm beside another.
#[derive(Debug, Serialize, JsonSchema)]
struct Change {
    /// The row, or several in words.
    row: String,
    /// The arm that is compared with.
    from: String,
    /// The arm that differs.
    to: String,
    /// Whose figure changes: `group`, `task` or `all`.
    kind: &'static str,
    /// Its name.
    of: String,
    /// The figure.
    figure: String,
    /// How much more the figure is in `to`.
    percent: Option<f64>,
    /// The standard deviation between runs.
    percent_sd: Option<f64>,
    /// What the source gives.
    published: Allowed,
    /// How far `percent` is outside of that.
    error_points: Option<f64>,
    /// Of several rows, which.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<Vec<String>>,
    /// Of several rows, `mean` or `largest`.
    #[serde(skip_serializing_if = "Option::is_none")]
    over: Option<&'static str>,
    /// Of several rows, the one in which ours is the largest.
    #[serde(skip_serializing_if = "Option::is_none")]
    largest_in: Option<String>,
    /// Of each run, in order of seeds; with several runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    percent_each: Option<Vec<f64>>,
    /// The two kinds that runs fall into, the larger first.
    #[serde(skip_serializing_if = "Option::is_none")]
    percent_regimes: Option<[Regime; 2]>,
}

/// Distances from published figures.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ScoreResults {
    /// Mean distance of shares in percentage points; null without comparable shares.
    share_error_points_mean: Option<f64>,
    /// The largest.
    share_error_points_max: Option<f64>,
    /// Mean distance of totals: 0.05 is 5 %; null without comparable totals.
    total_error_mean: Option<f64>,
    /// How many shares are compared.
    cells: usize,
    /// Mean distance of estimates from published shares, in percentage points.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate_error_points_mean: Option<f64>,
    /// The largest.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate_error_points_max: Option<f64>,
    /// How many estimates are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate_cells: Option<usize>,
    /// Mean distance of changes from what is published, in percentage points.
    #[serde(skip_serializing_if = "Option::is_none")]
    change_error_points_mean: Option<f64>,
    /// The largest.
    #[serde(skip_serializing_if = "Option::is_none")]
    change_error_points_max: Option<f64>,
    /// How many changes are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<usize>,
    /// Other figures, one for each kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    figures: Vec<FigureErrors>,
    /// Mean distance of rates of tasks, as a part of the published ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_error_mean: Option<f64>,
    /// The largest.
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_error_max: Option<f64>,
    /// In how many rows tasks end in the published order; those within 10 % end together.
    #[serde(skip_serializing_if = "Option::is_none")]
    orders_right: Option<usize>,
    /// How many rows have published run times.
    #[serde(skip_serializing_if = "Option::is_none")]
    orders: Option<usize>,
    /// How many rates are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<usize>,
}

/// Distances of figures of one kind: in percentage points, or in percent of the published figures.
#[derive(Debug, Serialize, JsonSchema)]
struct FigureErrors {
    /// The figure.
    figure: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_points_mean: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_points_max: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_percent_mean: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_percent_max: Option<f64>,
    /// How many are compared.
    cells: usize,
}

/// The outcome as a JSON object.
#[must_use]
pub fn to_json(outcome: &Outcome) -> Value {
    value(&RunResults::from(outcome))
}

impl From<&Outcome> for RunResults {
    fn from(outcome: &Outcome) -> Self {
        Self {
            schema: SCHEMA,
            experiment: outcome.experiment.clone(),
            title: outcome.title.clone(),
            source: outcome.source.clone(),
            shell: outcome.shell.name(),
            device: outcome.device.clone(),
            arms: outcome.arms.clone(),
            rows: outcome.rows.iter().map(Row::from).collect(),
            score: Score::of(outcome).as_ref().map(ScoreResults::from),
            caveats: outcome.caveats.clone(),
            excluded: outcome.excluded.clone(),
            estimates: outcome.estimates.clone(),
            refused: outcome.refused.clone(),
            changes: outcome.changes.iter().map(Change::from).collect(),
            host: None,
            overrides: None,
        }
    }
}

impl RunResults {
    /// The results, with the host that they are about and what the command line changed.
    #[must_use]
    pub fn with_host(self, host: Host, overrides: Vec<String>) -> Self {
        Self { host: Some(host), overrides: Some(overrides), ..self }
    }

    /// The results, with how each row was run on a file.
    #[must_use]
    pub fn with_backends(mut self, backends: impl Iterator<Item = Backend>) -> Self {
        self.rows.iter_mut().zip(backends).for_each(|(row, backend)| row.backend = Some(backend));
        self
    }
}

impl From<&ChangeOutcome> for Change {
    fn from(change: &ChangeOutcome) -> Self {
        let Each { each: percent_each, regimes: percent_regimes } =
            Each::of(change.percent.as_ref());
        let over = change.published.over.map(|over| over.word());
        Self {
            row: change.row.clone(),
            from: change.from.clone(),
            to: change.to.clone(),
            kind: change.whom.kind(),
            of: change.whom.name().to_owned(),
            figure: change.published.figure().key(),
            percent: change.percent.as_ref().map(|percent| percent.mean),
            percent_sd: change.percent.as_ref().map(|percent| percent.sd),
            published: (&change.published).into(),
            error_points: change.distance(),
            rows: over.map(|_| change.published.rows.clone()),
            over,
            largest_in: change.largest_in.clone(),
            percent_each,
            percent_regimes,
        }
    }
}

impl From<&Score> for ScoreResults {
    fn from(score: &Score) -> Self {
        // Without a published share there is no distance.
        let points = |points: f64| (score.cells > 0).then_some(points);
        let Score { estimates, rates, changes, .. } = score;
        Self {
            share_error_points_mean: points(score.share_error_points_mean),
            share_error_points_max: points(score.share_error_points_max),
            total_error_mean: score.total_error_mean,
            cells: score.cells,
            estimate_error_points_mean: estimates.map(|it| it.error_mean),
            estimate_error_points_max: estimates.map(|it| it.error_max),
            estimate_cells: estimates.map(|it| it.cells),
            change_error_points_mean: changes.map(|it| it.error_points_mean),
            change_error_points_max: changes.map(|it| it.error_points_max),
            changes: changes.map(|it| it.changes),
            figures: score.figures.iter().map(FigureErrors::from).collect(),
            rate_error_mean: rates.map(|it| it.error_mean),
            rate_error_max: rates.map(|it| it.error_max),
            orders_right: rates.map(|it| it.orders_right),
            orders: rates.map(|it| it.orders),
            tasks: rates.map(|it| it.tasks),
        }
    }
}

impl From<&FigureScore> for FigureErrors {
    fn from(score: &FigureScore) -> Self {
        let [error_points_mean, error_percent_mean] = by_unit(score.quantity, score.error_mean);
        let [error_points_max, error_percent_max] = by_unit(score.quantity, score.error_max);
        Self {
            figure: score.quantity.key(),
            error_points_mean,
            error_points_max,
            error_percent_mean,
            error_percent_max,
            cells: score.cells,
        }
    }
}
