//! All that the source of an experiment prints and expects, figure by figure, beside what the lab
//! has.

mod html;
mod json;
mod table;

pub use html::to_html;
pub use json::{PublishedResults, to_json};
pub use table::to_table;

use crate::catalog::library::Kind;
use crate::outcome::{
    ChangeOutcome, FigureOutcome, GroupOutcome, Outcome, RowOutcome, Series, TaskOutcome,
};
use crate::plan::{Options, Plan};

/// The distance from which on a figure is said to resist: twice what published shares of equal
/// groups are apart, and a tenth of other figures.
const RESISTS_POINTS: f64 = 4.0;
const RESISTS_PERCENT: f64 = 10.0;

/// An experiment and the figures of its source.
#[derive(Clone, Debug)]
pub struct Printed {
    /// The results of the lab.
    pub outcome: Outcome,
    /// The figures, row by row and arm by arm, then the changes.
    pub lines: Vec<Line>,
}

/// One figure.
#[derive(Clone, Debug)]
pub struct Line {
    /// The row, or several in words.
    pub row: String,
    /// The arm, or the two that a change is about.
    pub arm: String,
    /// Whose figure it is.
    pub of: String,
    /// The quantity and its unit.
    pub figure: String,
    /// What is published, in words.
    pub published: String,
    /// The published number, where it is a single one.
    pub number: Option<f64>,
    /// What the lab has.
    pub ours: Option<Series>,
    /// How far that is off: of a change, from the range that the source allows.
    pub error: Option<f64>,
    /// What was expected.
    pub estimate: Option<f64>,
    /// The unit of distances.
    pub off: Off,
}

/// The unit of a distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Off {
    /// Percentage points.
    Points,
    /// Percent of the published figure.
    Percent,
}

impl Off {
    const fn words(self) -> &'static str {
        match self {
            Self::Points => "points",
            Self::Percent => "%",
        }
    }

    fn of(self, ours: f64, published: f64) -> f64 {
        match self {
            Self::Points => ours - published,
            Self::Percent => (ours / published - 1.0) * 100.0,
        }
    }
}

impl Line {
    fn new(row: &RowOutcome, of: &str, figure: &str, off: Off) -> Self {
        Self {
            row: row.row.clone(),
            arm: row.arm.clone(),
            of: of.to_owned(),
            figure: figure.to_owned(),
            published: "-".to_owned(),
            number: None,
            ours: None,
            error: None,
            estimate: None,
            off,
        }
    }

    /// With a published number and ours.
    fn beside(self, number: Option<f64>, ours: Option<Series>) -> Self {
        let error = number.zip(ours.as_ref()).map(|(number, ours)| self.off.of(ours.mean, number));
        let published = number.map_or(self.published, words);
        Self { published, number, ours, error, ..self }
    }

    /// Whether the figure is further off than sources are from themselves.
    #[must_use]
    pub fn resists(&self) -> bool {
        let most = match self.off {
            Off::Points => RESISTS_POINTS,
            Off::Percent => RESISTS_PERCENT,
        };
        self.error.is_some_and(|error| error.abs() > most)
    }

    /// How far the estimate is from what is published.
    #[must_use]
    pub fn estimate_error(&self) -> Option<f64> {
        Some(self.off.of(self.estimate?, self.number?))
    }
}

/// A figure with one digit behind the point, if it is small enough for that to say something.
fn words(figure: f64) -> String {
    match figure.abs() {
        size if size < 10.0 && size.fract() != 0.0 => format!("{figure:.2}"),
        size if size < 1000.0 => format!("{figure:.1}"),
        _ => format!("{figure:.0}"),
    }
}

impl Printed {
    /// The figures of the source of this outcome.
    #[must_use]
    pub fn new(outcome: Outcome) -> Self {
        let rows = outcome.rows.iter().flat_map(of_row);
        let lines = rows.chain(outcome.changes.iter().map(of_change)).collect();
        Self { outcome, lines }
    }
}

fn of_row(row: &RowOutcome) -> Vec<Line> {
    let mut lines: Vec<Line> = row.groups.iter().flat_map(|group| of_group(row, group)).collect();
    let total = row.published_total.map(|total| {
        let line = Line::new(row, "all", "I/Os", Off::Percent);
        line.beside(Some(total), Some(row.total_ios.clone()))
    });
    lines.extend(total);
    lines.extend(row.tasks.iter().flat_map(|task| of_task(row, task)));
    lines.extend(row.figures.iter().map(|figure| of_figure(row, figure)));
    lines
}

fn of_group(row: &RowOutcome, group: &GroupOutcome) -> Vec<Line> {
    let Some(published) = &group.published else { return Vec::new() };
    let percent = |share: f64| share * 100.0;
    let line = |figure, off| Line::new(row, &group.name, figure, off);
    let ours = &published.ours;
    let share = published.share.or(published.expected).map(|_| {
        let each = ours.each.iter().copied().map(percent).collect();
        let share = line("share %", Off::Points);
        let share = share.beside(published.share.map(percent), Some(Series::of(each)));
        Line { estimate: published.expected.map(percent), ..share }
    });
    let ios = published
        .ios
        .map(|ios| line("I/Os", Off::Percent).beside(Some(ios), Some(group.ios.clone())));
    let reads = published.read_share.map(|share| {
        let ours = group.read_share.map(|share| Series::of_mean(percent(share)));
        line("reads %", Off::Points).beside(Some(percent(share)), ours)
    });
    [share, ios, reads].into_iter().flatten().collect()
}

fn of_task(row: &RowOutcome, task: &TaskOutcome) -> Vec<Line> {
    let line = |figure| Line::new(row, &task.name, figure, Off::Percent);
    let rate = task
        .published_mb_per_s
        .map(|rate| line("MB/s").beside(Some(rate), Some(task.mb_per_s.clone())));
    let seconds = task
        .published_seconds
        .map(|seconds| line("seconds").beside(Some(seconds), Some(task.seconds.clone())));
    [seconds, rate].into_iter().flatten().collect()
}

fn of_figure(row: &RowOutcome, figure: &FigureOutcome) -> Line {
    let off = if figure.quantity.is_percent() { Off::Points } else { Off::Percent };
    let line = Line::new(row, &figure.whom.words(), &figure.quantity.words(), off);
    line.beside(Some(figure.published), figure.ours.clone())
}

fn of_change(change: &ChangeOutcome) -> Line {
    let figure = change.figure_text().unwrap_or_else(|| "throughput".to_owned());
    Line {
        row: change.rows_text(),
        arm: format!("{} to {}", change.from, change.to),
        of: change.whom.name().to_owned(),
        figure: format!("{figure}, change in %"),
        published: change.published.words(),
        number: None,
        ours: change.percent.clone(),
        error: change.distance(),
        estimate: None,
        off: Off::Points,
    }
}

/// The plans of the experiments of the catalogue whose sources print something, or of the one with
/// this name: of the arms and rows that the sources are about.
///
/// # Errors
/// The name is unknown, or its source prints nothing.
pub fn plans(name: Option<&str>, seeds: Option<u32>) -> Result<Vec<Plan>, String> {
    let load = |id: &str, arms: Vec<String>| {
        let options = Options { seeds, arms, ..Options::default() };
        Plan::experiment(id, &options).map_err(|error| error.to_string())
    };
    let mut plans = Vec::new();
    for id in name.map_or_else(|| Kind::Experiment.ids().collect(), |name| vec![name]) {
        let arms = load(id, Vec::new())?.compared_arms();
        if !arms.is_empty() {
            plans.push(load(id, arms)?);
        }
    }
    match (name, plans.is_empty()) {
        (Some(name), true) => {
            Err(format!("{name}: its source prints nothing; fairdisk run {name}"))
        }
        _ => Ok(plans),
    }
}
