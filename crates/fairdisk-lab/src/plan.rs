//! Plans: experiments, job files and traces with every name resolved, ready to be built seed by
//! seed.

mod alone;
mod changed;
mod configured;
mod events;
mod experiment_load;
mod figures;
mod jobfile_files;
mod jobfile_load;
mod jobfile_notes;
mod jobfile_plan;
mod jobfile_stream;
mod jobfile_watch;
mod loaded;
mod numbers;
mod recorded;
mod replay;
mod rig;
mod setup;
mod trace_load;
mod trace_plan;
mod unheeded;

pub(crate) use alone::{Single, pauses};
pub use events::PlannedEvent;
pub use figures::{ChangeFigure, Figure, Figures, Whom};
pub use loaded::{Children, GroupLabel, Loaded};
pub use numbers::{GroupNumbers, ROOT_GROUP};
pub use recorded::Recorded;
pub use replay::{Replay, ReplayPace};
pub use rig::Rig;
pub(crate) use setup::START_SPREAD;
pub use setup::{Load, Obstacle, Setup, Written};

use crate::catalog::device;
use crate::catalog::error::{CatalogError, unknown};
use crate::catalog::experiment::{Arm, Estimate, Experiment, Published, Row};
use crate::catalog::library::{Document, Kind, find};
use crate::catalog::overrides::{Override, read};
use crate::catalog::revision::Revision;
use crate::catalog::source::Source;
use crate::seconds::{from_seconds, in_seconds};
use changed::{ExperimentFile, arms_in_row, in_row, plan_arms};
use experiment_load::{ExperimentLoad, demand_apart, is_extent};
use fairdisk_core::{Share, Span};
use std::sync::Arc;
use toml::{Table, Value};

/// What the caller changes about an experiment.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Schedulers to use instead of those of the experiment, each `NAME` or, with changes,
    /// `NAME[KEY=VALUE;KEY=VALUE]`; empty for no change.
    pub schedulers: Vec<String>,
    /// The device to use.
    pub device: Option<String>,
    /// The arms to run; empty for all.
    pub arms: Vec<String>,
    /// The rows to run; empty for all.
    pub rows: Vec<String>,
    /// The number of seeds.
    pub seeds: Option<u32>,
    /// The length of a run.
    pub duration: Option<Span>,
    /// Changes of single values.
    pub overrides: Vec<Override>,
    /// Whether to keep every event of the journal, for explanations.
    pub keep_journal: bool,
    /// Whether the caller reads job files without what is not supported of them.
    pub approximates: bool,
    /// How a trace is done again.
    pub replay: Replay,
}

/// The number of seeds of an ensemble that does not set it.
pub const DEFAULT_SEEDS: u32 = 5;

/// One arm of a plan.
#[derive(Clone, Debug)]
pub struct PlannedArm {
    /// The arm's name in results.
    pub name: String,
    /// The scheduler as it was asked for: an id of the catalogue or the path of a file.
    pub asked: String,
    /// The changes that the arm itself makes to its scheduler, each as `KEY=VALUE`.
    pub set: Vec<String>,
    /// The changes of values that its scheduler took: those of the arm itself, and of the caller's
    /// those that it has keys for.
    pub(crate) taken: Vec<Override>,
    /// Whether tasks use their `ionice` levels.
    pub ionice: bool,
    /// The priorities of a row's groups, instead of their own.
    pub priorities: Option<Vec<u8>>,
    /// The scheduler.
    pub revision: Revision,
    /// The device and the host: those of the plan, or the arm's own.
    pub rig: Arc<Rig>,
}

impl PlannedArm {
    /// Whether a change that the caller gave, as `KEY=VALUE`, is about this arm, and not about
    /// schedulers of other arms.
    #[must_use]
    pub fn takes(&self, set: &str) -> bool {
        let change = Override::parse(set);
        change.is_ok_and(|change| change.scope() != "scheduler" || self.taken.contains(&change))
    }

    /// Gives the groups of a row the priorities of this arm, if it has some.
    pub fn prioritize(&self, groups: &mut [GroupLabel]) {
        for (group, priority) in groups.iter_mut().zip(self.priorities.iter().flatten()) {
            group.spec.share = Share::Priority(*priority);
        }
    }
}

/// One row of a plan.
#[derive(Clone, Debug)]
pub struct PlannedRow {
    /// The row's label in results.
    pub label: String,
    /// The load, from which a machine is built.
    pub load: Arc<dyn Load>,
    /// The length of a run; `None` if it lasts until its tasks are done.
    pub duration: Option<Span>,
    /// What somebody does while it runs.
    pub events: Vec<PlannedEvent>,
    /// The changes that the row makes.
    pub(crate) changes: Vec<Override>,
    /// The arms that the row changes, as they are in this row.
    own_arms: Vec<PlannedArm>,
}

impl PlannedRow {
    fn identity(&self) -> String {
        let Self { label, load, duration, events, changes, own_arms } = self;
        let load = load.identity();
        format!("{label:?} {load} {duration:?} {events:?} {changes:?} {own_arms:?}")
    }
}

/// The kind of file from which a plan was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spec {
    /// An experiment.
    Experiment,
    /// A job file.
    JobFile,
    /// A trace.
    Trace,
}

/// What will be run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The kind of file it was read from.
    pub spec: Spec,
    /// The experiment's id.
    pub id: String,
    /// One line about the experiment.
    pub title: String,
    /// The question that the experiment answers.
    pub question: String,
    /// The source of the published figures.
    pub source: String,
    /// What to know before reading the figures, apart from settings that schedulers do not honour.
    pub caveats: Vec<String>,
    /// Causes of a difference from the source's figures that were examined and excluded.
    pub excluded: Vec<String>,
    /// The device and the host, for arms without their own.
    pub rig: Arc<Rig>,
    /// The arms.
    pub arms: Vec<PlannedArm>,
    /// The rows.
    pub rows: Vec<PlannedRow>,
    /// Time at the start of a run that is not counted.
    pub ramp: Span,
    /// The number of runs in an ensemble.
    pub seeds: u32,
    /// Whether to keep every event of the journal, for explanations.
    pub keep_journal: bool,
    /// The changes between arms that the source gives, among the arms and rows that are run.
    pub published_changes: Vec<ChangeFigure>,
    /// The shares that authors expected.
    pub estimates: Vec<Estimate>,
    published: Vec<Figures>,
}

impl Plan {
    /// Plans the experiment `name` (an id of the catalogue or the path of a `.toml` file), changed
    /// by `options`.
    ///
    /// # Errors
    /// Returns an error if the name is unknown, or the first fault of a file.
    pub fn experiment(name: &str, options: &Options) -> Result<Self, CatalogError> {
        Self::document(find(Kind::Experiment, name)?, options)
    }

    /// Plans the experiment of this file, changed by `options`.
    ///
    /// # Errors
    /// Returns the first fault of the file or the options.
    pub fn document(document: Document, options: &Options) -> Result<Self, CatalogError> {
        let document = Arc::new(document);
        demand_said_once(options)?;
        let scopes = ["experiment", "volume", "tasks"];
        let experiment = read(&document, &scopes, &options.overrides, Experiment::parse)?;
        let device = options.device.as_ref().unwrap_or(&experiment.device);
        let rig = Arc::new(Rig::load(device, &experiment.host, &options.overrides)?);
        let chosen_arms = choose_arms(&document.path, &experiment.arms, options)?;
        let file = ExperimentFile { document: &document, experiment: &experiment };
        let arms = plan_arms(&chosen_arms, options, &rig, Some(file))?;
        let rows = plan_rows(&document, &experiment, (&chosen_arms, &arms), &rig, options)?;
        let ramp = from_seconds(experiment.ramp_s);
        demand_measured(options, ramp, "`ramp_s`")?;
        demand_begun(options, &experiment, &rows)?;
        let (published, left_out) = published(&document, &experiment, &rows, ramp);
        let changes = experiment.published_changes.iter().cloned();
        let published_changes = changes.filter_map(|one| ChangeFigure::new(&experiment, one));
        let published_changes = published_changes.collect();
        Ok(Self {
            spec: Spec::Experiment,
            rig,
            arms,
            rows,
            ramp,
            seeds: options.seeds.or(experiment.seeds).unwrap_or(DEFAULT_SEEDS),
            keep_journal: options.keep_journal,
            id: experiment.id,
            title: experiment.title,
            question: experiment.question,
            source: experiment.source,
            caveats: experiment.caveats.into_iter().chain(left_out).collect(),
            excluded: experiment.excluded,
            published_changes,
            estimates: experiment.estimates,
            published,
        })
    }

    /// A text of all that determines the runs of the plan, apart from seeds. Its id and the path of
    /// its file do not.
    #[must_use]
    pub fn identity(&self) -> String {
        let rows: Vec<String> = self.rows.iter().map(PlannedRow::identity).collect();
        format!("{:?} {rows:?} {:?}", self.arms, self.ramp)
    }

    /// The value of a key that `--set` can change, from its file or by default.
    pub(crate) fn usual(&self, key: &str) -> Option<Value> {
        let (scope, path) = key.split_once('.')?;
        let file = match scope {
            "host" => Table::try_from(&self.rig.host).ok()?,
            "device" => device::table(&self.rig.device_id)?,
            "experiment" => self.rows.first()?.load.document()?.text.parse().ok()?,
            _ => return None,
        };
        let (last, outer) = path.rsplit_once('.').map_or((path, None), |(a, b)| (b, Some(a)));
        let table = match outer {
            None => &file,
            Some(outer) => outer.split('.').try_fold(&file, |at, key| at.get(key)?.as_table())?,
        };
        table.get(last).cloned()
    }

    /// The names of the arms for which the source gives or expects something.
    #[must_use]
    pub fn compared_arms(&self) -> Vec<String> {
        let figures = self.published.iter().map(|figures| &figures.published.arm);
        let changes = self.published_changes.iter();
        let changed = changes.flat_map(|change| [&change.published.from, &change.published.to]);
        let compared: Vec<&String> = figures.chain(changed).collect();
        let arms = self.arms.iter().map(|arm| &arm.name);
        arms.filter(|arm| compared.contains(arm)).cloned().collect()
    }

    /// The figures that the source gives or expects for a row under an arm.
    #[must_use]
    pub fn published(&self, arm: &str, row: &str) -> Option<&Figures> {
        let is_of = |published: &Published| published.arm == arm && published.row == row;
        self.published.iter().find(|figures| is_of(&figures.published))
    }
}

/// The rows to run, under the chosen arms, which are planned already.
fn plan_rows(
    document: &Arc<Document>,
    experiment: &Experiment,
    (chosen, arms): (&[Arm], &[PlannedArm]),
    rig: &Arc<Rig>,
    options: &Options,
) -> Result<Vec<PlannedRow>, CatalogError> {
    let extent = options.overrides.iter().rfind(|change| is_extent(&change.key()));
    let extent = extent.map(|change| change.place().clone());
    let file = ExperimentFile { document, experiment };
    let plan_row = |(row, entry): (usize, &Row)| {
        let own_arms = arms_in_row(file, row, chosen, options, rig)?;
        let events = Plan::events(experiment, entry)?;
        let experiment = in_row(file, row, options)?;
        for host in arms.iter().chain(&own_arms).map(|arm| &arm.rig.host).chain([&rig.host]) {
            demand_apart(&experiment.volumes, host)
                .map_err(|(key, text)| Source::of(document).error_at_key(&key, text))?;
        }
        let duration = options.duration.or_else(|| experiment.duration_s(entry).map(from_seconds));
        let document = Arc::clone(document);
        let load = Arc::new(ExperimentLoad { experiment, row, document, extent: extent.clone() });
        let (label, changes) = (entry.label.clone(), entry.overrides().unwrap_or_default());
        Ok(PlannedRow { label, load, duration, events, changes, own_arms })
    };
    let rows = experiment.rows.iter().enumerate().collect();
    let rows = choose("row", &options.rows, rows, |(_, row)| &row.label)?;
    rows.into_iter().map(plan_row).collect()
}

/// What the source prints and expects that can be compared with runs of the planned lengths, and
/// what is left out.
fn published(
    document: &Document,
    experiment: &Experiment,
    rows: &[PlannedRow],
    ramp: Span,
) -> (Vec<Figures>, Option<String>) {
    let written = Experiment::parse(document).ok();
    let is_as_long = |label: &str| {
        let planned = rows.iter().find(|row| row.label == label);
        planned.zip(written.as_ref()).is_some_and(|(planned, written)| {
            let row = written.rows.iter().find(|row| row.label == label);
            row.and_then(|row| written.duration_s(row)).map(from_seconds) == planned.duration
                && from_seconds(written.ramp_s) == ramp
        })
    };
    let is_planned = |label: &str| rows.iter().any(|row| row.label == label);
    let mut published = experiment.published.clone();
    let left_out = comparable(&mut published, is_as_long, is_planned);
    (Figures::all(experiment, published), left_out)
}

/// Checks that nothing is set both by an option of its own and by `--set`.
fn demand_said_once(options: &Options) -> Result<(), CatalogError> {
    let given = [
        ("--seeds", "experiment.seeds", options.seeds.is_some()),
        ("--duration", "experiment.duration_s", options.duration.is_some()),
        ("--device", "experiment.device", options.device.is_some()),
    ];
    for (option, key, is_given) in given {
        let change = options.overrides.iter().find(|change| is_given && change.key() == key);
        if let Some(change) = change {
            return Err(change.error(format!("{option} says the same; drop one of them")));
        }
    }
    Ok(())
}

/// Checks that a run of the length given by the options lasts longer than `unmeasured`, which `why`
/// names.
fn demand_measured(options: &Options, unmeasured: Span, why: &str) -> Result<(), CatalogError> {
    let Some(duration) = options.duration.filter(|duration| *duration <= unmeasured) else {
        return Ok(());
    };
    let message =
        format!("expected more than {} s, for {why} is not measured", in_seconds(unmeasured));
    Err(CatalogError::option(&format!("--duration {}s", in_seconds(duration)), message))
}

/// Checks that every task of the rows starts within a run of the length given by the options.
fn demand_begun(
    options: &Options,
    experiment: &Experiment,
    rows: &[PlannedRow],
) -> Result<(), CatalogError> {
    let Some(duration) = options.duration else { return Ok(()) };
    let is_planned = |label: &str| rows.iter().any(|row| row.label == label);
    let planned = experiment.rows.iter().filter(|row| is_planned(&row.label));
    let last = planned.flat_map(|row| &row.tasks).filter_map(|tasks| tasks.start_s);
    let last = from_seconds(last.fold(0.0, f64::max));
    if last == Span::ZERO || last + START_SPREAD < duration {
        return Ok(());
    }
    let message = format!("a task begins only at {} s, its `start_s`; give more", in_seconds(last));
    Err(CatalogError::option(&format!("--duration {}s", in_seconds(duration)), message))
}

/// Drops published counts, which cannot be compared with a run of another length, and says so.
/// Shares and rates can still be compared.
fn comparable(
    published: &mut [Published],
    is_as_long: impl Fn(&str) -> bool,
    is_planned: impl Fn(&str) -> bool,
) -> Option<String> {
    let mut rows: Vec<String> = Vec::new();
    for published in published.iter_mut().filter(|published| !is_as_long(&published.row)) {
        let row = format!("`{}`", published.row);
        if published.drop_amounts() && is_planned(&published.row) && !rows.contains(&row) {
            rows.push(row);
        }
    }
    let noun = if rows.len() == 1 { "row" } else { "rows" };
    let text = || {
        format!(
            "published counts and amounts of {noun} {} are left out: runs are of another length.",
            rows.join(", ")
        )
    };
    (!rows.is_empty()).then(text)
}

/// All of `items`, or those that are wanted by name.
fn choose<T>(
    what: &str,
    wanted: &[String],
    items: Vec<T>,
    name: impl Fn(&T) -> &String,
) -> Result<Vec<T>, CatalogError> {
    let known: Vec<&str> = items.iter().map(|item| name(item).as_str()).collect();
    if let Some(strange) = wanted.iter().find(|wanted| !known.contains(&wanted.as_str())) {
        let message = unknown(what, strange, &known);
        return Err(CatalogError::option(&format!("--{what} {strange}"), message));
    }
    let is_wanted = |item: &T| wanted.is_empty() || wanted.contains(name(item));
    Ok(items.into_iter().filter(is_wanted).collect())
}

/// The arms to run.
fn choose_arms(path: &str, arms: &[Arm], options: &Options) -> Result<Vec<Arm>, CatalogError> {
    let mut arms = choose("arm", &options.arms, arms.to_vec(), |arm| &arm.name)?;
    if !options.schedulers.is_empty() {
        let chosen = options.schedulers.iter().flat_map(|scheduler| with(scheduler, &arms));
        arms = chosen.collect();
    }
    if arms.is_empty() {
        let message = "it has no [[arm]]; add one, or name a scheduler with --scheduler";
        return Err(CatalogError::file(path, message));
    }
    Ok(arms)
}

/// The arms with this scheduler; if there are none, a new one.
fn with(scheduler: &str, arms: &[Arm]) -> Vec<Arm> {
    let known: Vec<Arm> = arms.iter().filter(|arm| arm.scheduler == scheduler).cloned().collect();
    if !known.is_empty() {
        return known;
    }
    let ionice = arms.iter().all(|arm| arm.ionice);
    vec![Arm { ionice, ..Arm::asked(scheduler) }]
}
