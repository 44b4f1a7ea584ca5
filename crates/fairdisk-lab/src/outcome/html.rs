//! An outcome as an HTML page.

mod chart;
mod single;

use super::split::{self, mean_or_regimes};
use super::table::{
    changes_title, figure_columns, given_up, has_flushes, milliseconds, or_dash, rate_number,
    reads, score_lines, still_dirty, title,
};
use super::{
    DisksOutcome, FigureOutcome, GroupOutcome, MemoryOutcome, Outcome, PayersOutcome, RefusedRow,
    RowOutcome, Score, Series, TaskOutcome, Throughput, part,
};
use super::{memory, table};
use crate::catalog::experiment::Estimate;
use crate::digits::{self, signed};
use crate::page::{Made, escape, page};
use fairdisk_sim::host::Payer;
use std::fmt::Write as _;

/// The outcome as an HTML page. `made` tells how it came about.
#[must_use]
pub fn to_html(outcome: &Outcome, made: &Made<'_>) -> String {
    let mut body = String::new();
    write_head(&mut body, outcome);
    for row in labels(outcome) {
        let arms: Vec<&RowOutcome> = outcome.rows.iter().filter(|arm| arm.row == row).collect();
        let _ = writeln!(body, "<h2>{}</h2>", escape(row));
        body.push_str(&chart::shares(&arms));
        body.push_str(&chart::rates(&arms));
        for arm in &arms {
            for line in table::events(arm).into_iter().chain(split::lines(arm)) {
                let _ =
                    writeln!(body, "<p class=\"warn\">{}, {}</p>", escape(&arm.arm), escape(&line));
            }
        }
        write_figures(&mut body, outcome, &arms);
        single::write_runs(&mut body, &arms);
    }
    write_refused(&mut body, outcome);
    write_changes(&mut body, outcome);
    let estimates = outcome.estimates.iter().filter_map(Estimate::note);
    let notes: Vec<String> = estimates.chain(outcome.caveats.iter().cloned()).collect();
    write_notes(&mut body, &notes, &outcome.excluded);
    page(&outcome.title, body, made)
}

/// Writes what to know before reading the figures, and which causes of differences from the
/// published figures were excluded.
pub(crate) fn write_notes(body: &mut String, caveats: &[String], excluded: &[String]) {
    for (title, texts) in [("Notes", caveats), ("Excluded", excluded)] {
        if texts.is_empty() {
            continue;
        }
        let _ = writeln!(body, "<h2>{title}</h2>\n<ul>");
        for text in texts {
            let _ = writeln!(body, "<li>{}</li>", escape(text));
        }
        body.push_str("</ul>\n");
    }
}

/// Writes what was refused.
fn write_refused(body: &mut String, outcome: &Outcome) {
    if outcome.refused.is_empty() {
        return;
    }
    body.push_str("<h2>Refused</h2>\n<ul>\n");
    for RefusedRow { arm, row, reason } in &outcome.refused {
        let [arm, row, reason] = [arm, row, reason].map(|text| escape(text));
        let _ = writeln!(body, "<li>{arm}, {row}: {reason}</li>");
    }
    body.push_str("</ul>\n");
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

fn write_head(body: &mut String, outcome: &Outcome) {
    let [experiment, title, question, source, place] =
        [&outcome.experiment, &outcome.title, &outcome.question, &outcome.source, &outcome.place()]
            .map(|text| escape(text));
    let _ = writeln!(body, "<h1>{experiment}: {title}</h1>");
    if !question.is_empty() {
        let _ = writeln!(body, "<p>{question}</p>");
    }
    let _ = write!(body, "<p class=\"dim\">On {place}, {}.", outcome.runs());
    if !source.is_empty() {
        let _ = write!(body, " Published by {source}; strokes are what it prints.");
    }
    body.push_str("</p>\n");
    for line in Score::of(outcome).iter().flat_map(score_lines) {
        let _ = writeln!(body, "<p class=\"verdict\">{}</p>", escape(&line));
    }
}

/// Writes a table from its heading and its lines; columns from `numbers` on are numeric.
pub(crate) fn write_table(
    body: &mut String,
    head: &[&str],
    numbers: usize,
    lines: impl Iterator<Item = Vec<String>>,
) {
    body.push_str("<table>\n<tr>");
    for name in head {
        let _ = write!(body, "<th>{}</th>", escape(name));
    }
    body.push_str("</tr>\n");
    for line in lines {
        body.push_str("<tr>");
        for (at, text) in line.iter().enumerate() {
            let class = if at < numbers { "" } else { " class=\"n\"" };
            let _ = write!(body, "<td{class}>{}</td>", escape(text));
        }
        body.push_str("</tr>\n");
    }
    body.push_str("</table>\n");
}

/// Writes the figures of one row under each arm.
fn write_figures(body: &mut String, outcome: &Outcome, arms: &[&RowOutcome]) {
    body.push_str("<details>\n<summary>Figures</summary>\n");
    write_groups(body, outcome, arms);
    if arms.iter().any(|arm| !arm.tasks.is_empty()) {
        let head = ["arm", "task", "MB/s", "published", "seconds", "published", "finished"];
        let tasks = |arm: &&RowOutcome| {
            let name = arm.arm.clone();
            arm.tasks.iter().map(move |task| task_columns(&name, task)).collect::<Vec<_>>()
        };
        write_table(body, &head, 2, arms.iter().flat_map(tasks));
    }
    write_throughput(body, arms);
    if arms.iter().any(|arm| !arm.figures.is_empty()) {
        let head = ["arm", "of", "figure", "ours ± sd", "published", "off by"];
        let figures = |arm: &&RowOutcome| {
            let name = arm.arm.clone();
            let columns = move |figure: &FigureOutcome| {
                let words = [figure.whom.words(), figure.quantity.words()];
                let words = [name.clone()].into_iter().chain(words);
                words.chain(figure_columns(figure)).collect::<Vec<_>>()
            };
            arm.figures.iter().map(columns).collect::<Vec<_>>()
        };
        write_table(body, &head, 3, arms.iter().flat_map(figures));
    }
    if arms.iter().any(|arm| arm.payers.is_some()) {
        write_payers(body, arms);
    }
    if arms.iter().any(|arm| arm.memory.is_some()) {
        let head: Vec<&str> = ["arm"].into_iter().chain(memory::HEAD).collect();
        let lines = |arm: &&RowOutcome| {
            let name = arm.arm.clone();
            let named = move |texts: [String; 4]| [name.clone()].into_iter().chain(texts).collect();
            memory::columns(arm).into_iter().map(named).collect::<Vec<Vec<String>>>()
        };
        write_table(body, &head, 2, arms.iter().flat_map(lines));
    }
    let head: Vec<&str> = ["arm"].into_iter().chain(DisksOutcome::head()).collect();
    let disks = |arm: &&RowOutcome| {
        let name = arm.arm.clone();
        let named = move |disk| [vec![name.clone()], disk].concat();
        arm.disks.columns().map(named).collect::<Vec<_>>()
    };
    write_table(body, &head, 1, arms.iter().flat_map(disks));
    for arm in arms {
        let memory = arm.memory.iter().flat_map(MemoryOutcome::lines);
        let notes = still_dirty(arm).into_iter().chain(memory).chain(given_up(arm));
        let notes: String = notes.map(|note| format!("; {note}")).collect();
        let _ = writeln!(
            body,
            "<p class=\"dim\">{}: {} submitted = {} completed + {} in flight; {} failed{notes}; \
             journal {:016x}</p>",
            escape(&arm.arm),
            arm.submitted,
            arm.completed,
            arm.in_flight,
            arm.errors,
            arm.journal_hash,
        );
    }
    body.push_str("</details>\n");
}

/// Writes who pays for what was written back by each rule.
fn write_payers(body: &mut String, arms: &[&RowOutcome]) {
    let of_arms = || arms.iter().filter_map(|arm| Some((&arm.arm, arm.payers.as_ref()?)));
    let rules = Payer::ALL.map(Payer::name);
    let head: Vec<&str> = ["arm", PayersOutcome::TITLE].into_iter().chain(rules).collect();
    let lines = of_arms().flat_map(|(arm, payers)| {
        payers.groups().map(move |(name, columns)| {
            [arm.as_str(), name].map(str::to_owned).into_iter().chain(columns).collect()
        })
    });
    write_table(body, &head, 2, lines);
    for (arm, payers) in of_arms() {
        for note in payers.notes() {
            let _ = writeln!(body, "<p>{}: {}</p>", escape(arm), escape(&note));
        }
    }
}

/// Writes the lines of iozone's report.
fn write_throughput(body: &mut String, arms: &[&RowOutcome]) {
    for arm in arms.iter().filter(|arm| !arm.throughput.is_empty()) {
        let lines = arm.throughput.iter().flat_map(Throughput::lines);
        let lines: String = lines.map(|line| format!("{}\n", escape(&line))).collect();
        let _ = writeln!(body, "<p>{}</p>\n<pre>{lines}</pre>", escape(&arm.arm));
    }
}

/// Writes the figures of groups; those of flushes only if there were any.
fn write_groups(body: &mut String, outcome: &Outcome, arms: &[&RowOutcome]) {
    let mut head = vec![
        "arm",
        "group",
        "I/Os",
        "share %",
        "± sd",
        "published",
        "estimate",
        "MB/s",
        "asked %",
        "got %",
        "got/asked",
        "read %",
        "p50 ms",
        "p99 ms",
        "max ms",
        "longest wait ms",
    ];
    let flushes = arms.iter().any(|arm| has_flushes(arm));
    if flushes {
        head.extend(["fsync p50 ms", "fsync p99 ms"]);
    }
    let groups = |arm: &&RowOutcome| {
        let (title, arm) = (title(outcome, arm), *arm);
        let line = move |(at, group): (usize, &GroupOutcome)| {
            let mut line = vec![if at == 0 { title.clone() } else { String::new() }];
            line.extend(group_columns(group, arm.duration_s));
            let flush = &group.directions.flush.latency;
            let quantiles: &[u32] = if flushes { &[500, 990] } else { &[] };
            line.extend(quantiles.iter().map(|per_mille| milliseconds(flush, *per_mille)));
            line
        };
        arm.groups.iter().enumerate().map(line).collect::<Vec<_>>()
    };
    write_table(body, &head, 2, arms.iter().flat_map(groups));
}

fn group_columns(group: &GroupOutcome, duration_s: f64) -> [String; 15] {
    let percent = |part: f64| format!("{:.1}", part * 100.0);
    let published = group.published.as_ref().and_then(|published| published.share);
    let expected = group.published.as_ref().and_then(|published| published.expected);
    let latency = |per_mille| milliseconds(&group.latency, per_mille);
    [
        group.name.clone(),
        mean_or_regimes(&group.ios, |ios| format!("{ios:.0}")),
        mean_or_regimes(group.compared_share(), percent),
        mean_or_regimes(group.compared_share(), |_| percent(group.compared_share().sd)),
        or_dash(published, percent),
        or_dash(expected, percent),
        rate_number(part(group.bytes, duration_s) / 1e6),
        or_dash(group.disk.asked, percent),
        percent(group.disk.got),
        or_dash(group.disk.got_of_asked(), |part| format!("{part:.2}")),
        reads(group),
        latency(500),
        latency(990),
        ms(group, group.latency.max().as_ns()),
        digits::ms(group.wait_max_ms),
    ]
}

/// A latency in ms; `-` if there were no I/Os.
fn ms(group: &GroupOutcome, ns: u64) -> String {
    if group.latency.count() == 0 { "-".to_owned() } else { digits::ms(ns as f64 / 1e6) }
}

fn task_columns(arm: &str, task: &TaskOutcome) -> Vec<String> {
    let published = |figure: Option<f64>| or_dash(figure, |figure| format!("{figure:.1}"));
    vec![
        arm.to_owned(),
        task.name.clone(),
        mean_or_regimes(&task.mb_per_s, |rate| format!("{rate:.1}")),
        published(task.published_mb_per_s),
        mean_or_regimes(&task.seconds, |seconds| format!("{seconds:.1}")),
        published(task.published_seconds),
        if task.finished { "yes" } else { "no" }.to_owned(),
    ]
}

/// A change with its spread, or its two regimes.
fn percent_in_words(percent: &Series) -> String {
    match percent.regimes() {
        Some(regimes) => regimes.words("%", signed),
        None => format!("{} ± {:.1}", signed(percent.mean), percent.sd),
    }
}

/// Writes the changes between arms.
fn write_changes(body: &mut String, outcome: &Outcome) {
    if outcome.changes.is_empty() {
        return;
    }
    let _ = writeln!(body, "<h2>{}</h2>", changes_title(&outcome.changes));
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
    write_table(body, &head, 4, lines);
}
