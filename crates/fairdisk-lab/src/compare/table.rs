//! A comparison as a text table.

use super::{Cell, CellGroup, Comparison, MissingCells, Parts, Promises, RefusedCell};
use crate::columns::padded;
use crate::digits::{ms, signed, span_ms};
use crate::outcome::{Style, milliseconds, widest};
use crate::seconds::seconds;
use fairdisk_core::QosKey;
use std::fmt::Write as _;

/// The comparison as text.
#[must_use]
pub fn to_table(comparison: &Comparison, style: Style) -> String {
    let mut out = String::new();
    let heading = format!("{}: {}", comparison.experiment, comparison.title);
    let runs = comparison.runs();
    let _ = writeln!(out, "{}\n{}", style.bold(&heading), style.dim(&runs));
    if let Some(partial) = comparison.partial() {
        let _ = writeln!(out, "{}", style.bold(&partial));
    }
    let blocks: Vec<&[Cell]> = comparison.blocks().collect();
    blocks.iter().for_each(|block| write_block(&mut out, block, style));
    if blocks.len() > 1 {
        write_summary(&mut out, comparison, style);
    }
    if !comparison.refused.is_empty() {
        let _ = writeln!(out, "\n{}", style.bold("refused"));
    }
    for RefusedCell { device, row, arm, reason } in &comparison.refused {
        let _ = writeln!(out, "  {arm} on {device}, {row}: {reason}");
    }
    if !comparison.missing.is_empty() {
        let _ = writeln!(out, "\n{}", style.bold("not run"));
    }
    for MissingCells { device, row, arms } in &comparison.missing {
        let _ = writeln!(out, "  {device}, {row}: {}", arms.join(", "));
    }
    for (at, note) in comparison.notes().enumerate() {
        let gap = if at == 0 { "\n" } else { "" };
        let _ = writeln!(out, "{gap}{} {note}", style.dim("note:"));
    }
    out
}

/// Writes all arms on one device and row.
fn write_block(out: &mut String, cells: &[Cell], style: Style) {
    let first = &cells[0];
    let heading = format!("{}, {}, {}", first.device, first.row, seconds(first.duration_s));
    let _ = writeln!(out, "\n{}", style.bold(&heading));
    let arms = widest(cells.iter().map(Cell::label), "scheduler");
    let groups = || cells.iter().flat_map(Cell::reported);
    let names = widest(groups().map(|group| &group.outcome.name), "group");
    let promised = groups().any(|group| !group.promises.are_none());
    let flushes = has_flushes(cells);
    let head = format!(
        "  {:arms$}  {:>8}  {:>7}  {:>6}  {:names$}  {:>7}  {:>6}  {:>6}  {:>8}  {:>8}  {:>8}  \
         {:>8}{}{}",
        "scheduler",
        "I/Os/s",
        "of noop",
        "work %",
        "group",
        "asked %",
        "got %",
        "error",
        "p50 ms",
        "p99 ms",
        "p99.9 ms",
        "wait ms",
        if flushes { "  fsync p99" } else { "" },
        if promised { "  promised" } else { "" },
    );
    let _ = writeln!(out, "{}", style.dim(&head));
    for cell in cells {
        let of_noop = cell.of_noop.map_or_else(|| "-".to_owned(), |part| format!("{part:.2}"));
        let work = cell.work * 100.0;
        let rates = format!("{:>8.0}  {of_noop:>7}  {work:>6.1}", cell.ios_per_s);
        let blank = " ".repeat(rates.len());
        for (at, group) in cell.reported().enumerate() {
            let (arm, rates) =
                if at == 0 { (cell.label(), &rates) } else { (String::new(), &blank) };
            let arm = padded(&arm, arms);
            let line = format!("  {arm}  {rates}  {}", group_text(group, names, flushes));
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }
}

/// Whether a group in any of the cells called `fsync` or `fdatasync`.
pub(super) fn has_flushes(cells: &[Cell]) -> bool {
    cells.iter().flat_map(Cell::reported).any(|group| group.outcome.directions.has_flushes())
}

fn group_text(group: &CellGroup, names: usize, flushes: bool) -> String {
    let outcome = &group.outcome;
    let quantile = |per_mille| milliseconds(&outcome.latency, per_mille);
    let [asked, got, error] = parts_text(group.parts);
    let flush = match flushes {
        true => format!("  {:>9}", milliseconds(&outcome.directions.flush.latency, 990)),
        false => String::new(),
    };
    format!(
        "{}  {asked:>7}  {got:>6}  {error:>6}  {:>8}  {:>8}  {:>8}  {:>8}{flush}  {}",
        padded(&outcome.name, names),
        quantile(500),
        quantile(990),
        quantile(999),
        ms(outcome.wait_max_ms),
        promises_text(&group.promises),
    )
}

/// What a group asked for and got in percent, and the difference; `-` if nothing was done.
pub(super) fn parts_text(parts: Option<Parts>) -> [String; 3] {
    let percent = |part: f64| format!("{:.1}", part * 100.0);
    let text = |one: Parts| [percent(one.asked), percent(one.got), signed(one.error_points())];
    parts.map_or_else(|| ["-"; 3].map(str::to_owned), text)
}

/// By how much a ceiling was exceeded, in words. The amount is told as the time in which the
/// ceiling allows it, which may be longer than the run.
pub(crate) fn excess(over_ms: f64) -> String {
    format!("what it allows in {}", span_ms(over_ms))
}

/// Which promises were kept, in words.
pub(super) fn promises_text(promises: &Promises) -> String {
    let floor = promises.floor.map(|floor| match (floor.usable, floor.below) {
        (false, _) => "floor not usable".to_owned(),
        (true, 0) => "floor kept".to_owned(),
        (true, below) => format!("below floor {below} of {} s", floor.seconds),
    });
    let ceiling = promises.ceiling.map(|ceiling| match ceiling.is_kept() {
        true => "ceiling kept".to_owned(),
        false => format!("over ceiling, by {}", excess(ceiling.over_ms)),
    });
    let targets = promises.targets().map(|(key, target)| {
        let whose = if key == QosKey::FsyncP99 { "fsync " } else { "" };
        let word = if target.is_met() { "within" } else { "misses" };
        format!("{whose}{word} {} ms", target.asked_ms)
    });
    let all: Vec<String> = floor.into_iter().chain(ceiling).chain(targets).collect();
    all.join(", ")
}

/// Writes the summary of each arm over all devices and rows.
fn write_summary(out: &mut String, comparison: &Comparison, style: Style) {
    let sums = comparison.summary();
    let width = widest(sums.iter().map(|sum| &sum.arm), "scheduler");
    let heads = ["cells", "error mean", "error most", "of noop mean", "of noop least", "promises"];
    let line = |name: &str, texts: &[&str]| {
        let texts = texts.iter().zip(heads);
        let texts = texts.map(|(text, head)| format!("  {text:>width$}", width = head.len()));
        format!("  {}{}", padded(name, width), texts.collect::<String>())
    };
    let head = line("scheduler", &heads);
    let _ = writeln!(out, "\n{}\n{}", style.bold("over all of them"), style.dim(&head));
    for sum in &sums {
        let columns = sum.columns();
        let texts: Vec<&str> = columns.iter().map(String::as_str).collect();
        let _ = writeln!(out, "{}", line(&sum.arm, &texts));
    }
}
