//! An outcome as a page.

mod figures;
mod single;

use super::table::{changes_title, or_dash, rate_number, score_lines};
use super::{
    GroupOutcome, Outcome, RefusedRow, RowOutcome, Score, Series, TaskOutcome, part, to_json,
};
use super::{split, table};
use crate::catalog::experiment::Estimate;
use crate::digits::{ms, signed};
use crate::page::{Made, list, notes};
use crate::plots::{self, ArmPlot, GroupPlot};
use crate::watched::Watched;
use fairdisk_page::charts::{Axis, Dot, Dots};
use fairdisk_page::{Film, Page, Part, Section, Table};

/// The outcome as an HTML page. `made` tells how it came about.
#[must_use]
pub fn to_html(outcome: &Outcome, made: &Made<'_>) -> String {
    page(outcome).to_html(made)
}

fn page(outcome: &Outcome) -> Page {
    let heading = format!("{}: {}", outcome.experiment, outcome.title);
    let mut page = Page::new(&outcome.title, heading);
    page.summary = summary(outcome);
    for row in labels(outcome) {
        let arms: Vec<&RowOutcome> = outcome.rows.iter().filter(|arm| arm.row == row).collect();
        page.sections.push(row_section(outcome, row, &arms));
    }
    let refused = outcome.refused.iter();
    let refused = refused.map(|RefusedRow { arm, row, reason }| format!("{arm}, {row}: {reason}"));
    page.sections.extend(list("Refused", refused.collect()));
    page.sections.extend(changes(outcome));
    let estimates = outcome.estimates.iter().filter_map(Estimate::note);
    let caveats: Vec<String> = estimates.chain(outcome.caveats.iter().cloned()).collect();
    page.sections.extend(notes(&caveats, &outcome.excluded));
    page.results = to_json(outcome);
    page
}

/// A page with a film of each stretch that was watched: `made` tells how it came about.
#[must_use]
pub fn film(outcome: &Outcome, made: &Made<'_>) -> String {
    let heading = format!("{}: {}", outcome.experiment, outcome.title);
    let mut page = Page::new(format!("Film: {}", outcome.title), heading);
    page.summary.push(Part::Remark(
        "The head of the disk, the queue of each group (filled: reads; pale: not yet at the disk), \
         and who had the disk. A film is of one run."
            .to_owned(),
    ));
    page.sections = outcome.watched.iter().map(film_section).collect();
    page.to_html(made)
}

fn film_section(watched: &Watched) -> Section {
    let count = |at: usize| watched.requests.iter().filter(|it| it.group == at).count();
    let line = |(at, name): (usize, &String)| vec![name.clone(), count(at).to_string()];
    let lines = watched.groups.iter().enumerate().map(line).collect();
    let film = Film {
        title: format!("{:.3} s of a run, from {:.1} s on", watched.length_s, watched.from_s),
        frames: watched.film(),
        values: Table::new(&["group", "requests"], 1, lines),
    };
    Section::new(format!("{}, {}", watched.row, watched.arm), "").with(Part::Film(film))
}

/// The labels of the rows, each once, in order.
fn labels(outcome: &Outcome) -> Vec<&str> {
    let mut labels: Vec<&str> = Vec::new();
    for row in &outcome.rows {
        if !labels.contains(&row.row.as_str()) {
            labels.push(&row.row);
        }
    }
    labels
}

/// What is to know first: the question, where, how far from the source, and a line for each row and
/// arm.
fn summary(outcome: &Outcome) -> Vec<Part> {
    let mut parts = Vec::new();
    if !outcome.question.is_empty() {
        parts.push(Part::Text(outcome.question.clone()));
    }
    let score = Score::of(outcome);
    let mut place = format!("On {}, {}.", outcome.place(), outcome.runs());
    if !outcome.source.is_empty() {
        let strokes = if score.is_some() { "; strokes are what it prints" } else { "" };
        place.push_str(&format!(" Published by {}{strokes}.", outcome.source));
    }
    parts.push(Part::Remark(place));
    parts.extend(score.iter().flat_map(score_lines).map(Part::Verdict));
    let head =
        ["row", "arm", "I/Os/s", "± sd", "MB/s", "busy %", "got/asked, least", "p99 ms, most"];
    let of_row = |label| outcome.rows.iter().filter(move |row| row.row == label);
    let lines = labels(outcome).into_iter().flat_map(of_row).map(summary_line).collect();
    parts.push(Part::Table(Table::new(&head, 2, lines)));
    parts
}

fn summary_line(row: &RowOutcome) -> Vec<String> {
    let per_second = |amount: f64| part(amount, row.duration_s);
    let least = row.groups.iter().filter_map(|group| Some((group.disk.got_of_asked()?, group)));
    let least = least.min_by(|one, other| one.0.total_cmp(&other.0));
    let used = row.groups.iter().filter(|group| group.latency.count() > 0);
    let slowest = used.max_by_key(|group| group.latency.quantile(990));
    vec![
        row.row.clone(),
        row.arm.clone(),
        format!("{:.0}", per_second(row.total_ios.mean)),
        if row.seeds > 1 { format!("{:.0}", per_second(row.total_ios.sd)) } else { "-".into() },
        rate_number(per_second(row.total_bytes) / 1e6),
        format!("{:.1}", row.work * 100.0),
        or_dash(least, |(part, group)| format!("{part:.2} ({})", group.name)),
        or_dash(slowest, |group| {
            let p99 = ms(group.latency.quantile(990).as_ns() as f64 / 1e6);
            format!("{p99} ({})", group.name)
        }),
    ]
}

fn row_section(outcome: &Outcome, row: &str, arms: &[&RowOutcome]) -> Section {
    let sentence = match arms.iter().any(|arm| arm.seeds > 1) {
        true => {
            "Error bars are the standard deviation of single runs. The pointer and the tables \
             below the charts tell the values."
        }
        false => "The pointer and the tables below the charts tell the values.",
    };
    let plots: Vec<ArmPlot<'_>> = arms.iter().map(|arm| plot(arm)).collect();
    let mut section = plots::row(Section::new(row, sentence), &plots);
    section.parts.extend(rates(arms));
    let watched = outcome.watched.iter().filter(|watched| watched.row == row);
    section.parts.extend(watched.map(plots::time_line));
    for arm in arms {
        for line in table::events(arm).into_iter().chain(split::lines(arm)) {
            section.parts.push(Part::Warning(format!("{}, {line}", arm.arm)));
        }
    }
    section.parts.push(figures::figures(outcome, arms));
    section.parts.extend(single::runs(arms));
    section
}

fn plot(row: &RowOutcome) -> ArmPlot<'_> {
    let per_second = |amount: f64| part(amount, row.duration_s);
    fn group(outcome: &GroupOutcome) -> GroupPlot<'_> {
        GroupPlot { asked: outcome.disk.asked, got: Some(outcome.disk.got), outcome }
    }
    ArmPlot {
        name: row.arm.clone(),
        ios_per_s: (
            per_second(row.total_ios.mean),
            (row.seeds > 1).then(|| per_second(row.total_ios.sd)),
        ),
        published_ios_per_s: row.published_total.map(per_second),
        mb_per_s: per_second(row.total_bytes) / 1e6,
        groups: row.groups.iter().map(group).collect(),
    }
}

/// The rate of each named task under each arm, and the published rate; nothing without tasks.
fn rates(arms: &[&RowOutcome]) -> Option<Part> {
    let tasks: Vec<&TaskOutcome> = arms.first()?.tasks.iter().collect();
    let dot = |name: &str, arm: &RowOutcome| {
        let task = arm.tasks.iter().find(|task| task.name == name)?;
        let Series { mean, sd, each } = &task.mb_per_s;
        Some(Dot {
            name: name.to_owned(),
            series: arm.arm.clone(),
            value: *mean,
            sd: (each.len() > 1).then_some(*sd),
            mark: task.published_mb_per_s,
        })
    };
    let of_task = |task: &&TaskOutcome| {
        arms.iter().filter_map(|arm| dot(&task.name, arm)).collect::<Vec<_>>()
    };
    let dots: Vec<Dot> = tasks.iter().flat_map(of_task).collect();
    let has_some = dots.iter().any(|dot| dot.value > 0.0 || dot.mark.is_some());
    let chart =
        Dots { axis: Axis::linear("MB per second"), words: ["task", "arm", "published"], dots };
    has_some.then(|| Part::Chart(chart.chart("Rates of the tasks")))
}

/// The changes between arms.
fn changes(outcome: &Outcome) -> Option<Section> {
    if outcome.changes.is_empty() {
        return None;
    }
    let head = ["row", "from", "to", "figure", "ours %", "published %", "off by"];
    let lines = outcome.changes.iter().map(|change| {
        vec![
            change.rows_text(),
            change.from.clone(),
            change.to.clone(),
            change.figure_text().unwrap_or_else(|| "throughput".to_owned()),
            or_dash(change.percent.as_ref(), percent_in_words),
            change.published.words(),
            or_dash(change.distance(), |points| format!("{points:.1}")),
        ]
    });
    let table = Table::new(&head, 4, lines.collect());
    Some(Section::new(changes_title(&outcome.changes), "").with(Part::Table(table)))
}

/// A change with its spread, or its two regimes.
fn percent_in_words(percent: &Series) -> String {
    match percent.regimes() {
        Some(regimes) => regimes.words("%", signed),
        None => format!("{} ± {:.1}", signed(percent.mean), percent.sd),
    }
}
