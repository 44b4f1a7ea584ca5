//! A comparison as a text table.

use super::{Cell, CellGroup, Comparison, MissingCells, Parts, Promises, RefusedCell, Summary};
use crate::columns::{Grid, Head};
use crate::digits::{ms, signed, span_ms};
use crate::outcome::{Style, milliseconds, or_dash, write_grid};
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
    let groups = || cells.iter().flat_map(Cell::reported);
    let has = Optional {
        promises: groups().any(|group| !group.promises.are_none()),
        flushes: has_flushes(cells),
    };
    let lines = cells.iter().flat_map(|cell| {
        let groups = cell.reported().enumerate();
        groups.map(move |(at, group)| {
            let mut line = cell_texts(cell, at == 0);
            line.extend(group_texts(group, has));
            line
        })
    });
    write_grid(out, &Grid::of(lines), style);
}

/// The columns that are there only if there is something to show.
#[derive(Clone, Copy)]
struct Optional {
    promises: bool,
    flushes: bool,
}

/// What is said of a cell, in its first line only.
fn cell_texts(cell: &Cell, is_first: bool) -> Vec<(Head, String)> {
    let texts = [
        (Head::text("scheduler"), cell.label()),
        (Head::number("I/Os/s", 8).leaves(5), format!("{:.0}", cell.ios_per_s)),
        (Head::number("of noop", 0).leaves(7), or_dash(cell.of_noop, |part| format!("{part:.2}"))),
        (Head::number("work %", 6).leaves(2), format!("{:.1}", cell.work * 100.0)),
    ];
    let shown = |(head, text)| (head, if is_first { text } else { String::new() });
    texts.into_iter().map(shown).collect()
}

/// Whether a group in any of the cells called `fsync` or `fdatasync`.
pub(super) fn has_flushes(cells: &[Cell]) -> bool {
    cells.iter().flat_map(Cell::reported).any(|group| group.outcome.directions.has_flushes())
}

fn group_texts(group: &CellGroup, has: Optional) -> Vec<(Head, String)> {
    let outcome = &group.outcome;
    let quantile = |per_mille| milliseconds(&outcome.latency, per_mille);
    let [asked, got, error, part] = parts_text(group.parts);
    let mut texts = vec![
        (Head::text("group"), outcome.name.clone()),
        (Head::number("asked %", 0).leaves(8), asked),
        (Head::number("got %", 6), got),
        (Head::number("error", 6).leaves(6), error),
        (Head::number("got/asked", 0), part),
        (Head::number("p50 ms", 8).leaves(1), quantile(500)),
        (Head::number("p99 ms", 8).leaves(10), quantile(990)),
        (Head::number("p99.9 ms", 8).leaves(3), quantile(999)),
        (Head::number("wait ms", 8).leaves(4), ms(outcome.wait_max_ms)),
    ];
    if has.flushes {
        let flush = milliseconds(&outcome.directions.flush.latency, 990);
        texts.push((Head::number("fsync p99", 0).leaves(9), flush));
    }
    if has.promises {
        texts.push((Head::text("promised"), promises_text(&group.promises)));
    }
    texts
}

/// What a group asked for and got in percent, the difference, and what it got as a part of what it
/// asked for; `-` if nothing was done.
pub(super) fn parts_text(parts: Option<Parts>) -> [String; 4] {
    let percent = |part: f64| format!("{:.1}", part * 100.0);
    let text = |one: Parts| {
        let of_asked = or_dash(one.got_of_asked(), |part| format!("{part:.2}"));
        [percent(one.asked), percent(one.got), signed(one.error_points()), of_asked]
    };
    parts.map_or_else(|| ["-"; 4].map(str::to_owned), text)
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
    let _ = writeln!(out, "\n{}", style.bold("over all of them"));
    let line = |sum: &Summary| {
        let texts = sum.columns().into_iter();
        let heads = Summary::HEADS.iter().map(|(name, order)| Head::number(name, 0).leaves(*order));
        let name = [(Head::text("scheduler"), sum.arm.clone())];
        name.into_iter().chain(heads.zip(texts)).collect::<Vec<_>>()
    };
    write_grid(out, &Grid::of(comparison.summary().iter().map(line)), style);
}
