//! A comparison as a table for people.

use super::{Cell, CellGroup, Comparison};
use crate::outcome::{Style, milliseconds};
use std::fmt::Write as _;

/// The comparison as text.
#[must_use]
pub fn to_table(comparison: &Comparison, style: Style) -> String {
    let mut out = String::new();
    let heading = format!("{}: {}", comparison.experiment, comparison.title);
    let runs = match comparison.seeds {
        1 => "1 run".to_owned(),
        seeds => format!("mean of {seeds} runs"),
    };
    let _ = writeln!(out, "{}\n{}", style.bold(&heading), style.dim(&runs));
    let same = |one: &Cell, two: &Cell| one.device == two.device && one.row == two.row;
    let blocks: Vec<&[Cell]> = comparison.cells.chunk_by(same).collect();
    blocks.iter().for_each(|block| write_block(&mut out, block, style));
    if blocks.len() > 1 {
        write_summary(&mut out, comparison, style);
    }
    out
}

/// All arms on one device and row.
fn write_block(out: &mut String, cells: &[Cell], style: Style) {
    let first = &cells[0];
    let heading = format!("{}, {}, {:.0} s", first.device, first.row, first.duration_s);
    let asked = first
        .groups
        .iter()
        .map(|group| format!("{} {:.1} %", group.outcome.name, group.asked * 100.0));
    let asked = format!("asked: {}", asked.collect::<Vec<_>>().join(", "));
    let _ = writeln!(out, "\n{}\n{}", style.bold(&heading), style.dim(&asked));
    let arms = widest(cells.iter().map(|cell| label(cell).len()), "scheduler");
    let groups = cells.iter().flat_map(|cell| &cell.groups);
    let names = widest(groups.map(|group| group.outcome.name.len()), "group");
    let head = format!(
        "  {:arms$}  {:>8}  {:>7}  {:names$}  {:>6}  {:>6}  {:>8}  {:>8}  {:>8}  {:>8}",
        "scheduler",
        "I/Os/s",
        "of noop",
        "group",
        "time %",
        "error",
        "p50 ms",
        "p99 ms",
        "p99.9 ms",
        "wait ms"
    );
    let _ = writeln!(out, "{}", style.dim(&head));
    for cell in cells {
        let of_noop = cell.of_noop.map_or_else(|| "-".to_owned(), |part| format!("{part:.2}"));
        let rates = format!("{:>8.0}  {of_noop:>7}", cell.ios_per_s);
        let blank = " ".repeat(rates.len());
        for (at, group) in cell.groups.iter().enumerate() {
            let (arm, rates) =
                if at == 0 { (label(cell), &rates) } else { (String::new(), &blank) };
            let _ = writeln!(out, "  {arm:arms$}  {rates}  {}", group_text(group, names));
        }
    }
}

fn widest(lengths: impl Iterator<Item = usize>, heading: &str) -> usize {
    lengths.max().unwrap_or(0).max(heading.len())
}

/// The arm, and its scheduler if that has another name.
fn label(cell: &Cell) -> String {
    let partial = if cell.partial { ", partial" } else { "" };
    if cell.arm == cell.scheduler {
        format!("{}{partial}", cell.arm)
    } else {
        format!("{} ({}){partial}", cell.arm, cell.scheduler)
    }
}

fn group_text(group: &CellGroup, names: usize) -> String {
    let outcome = &group.outcome;
    let quantile = |per_mille| milliseconds(&outcome.latency, per_mille);
    format!(
        "{:names$}  {:>6.1}  {:>+6.1}  {:>8}  {:>8}  {:>8}  {:>8.1}",
        outcome.name,
        group.got * 100.0,
        group.error_points(),
        quantile(500),
        quantile(990),
        quantile(999),
        outcome.wait_max_ms,
    )
}

/// Each arm over all devices and rows.
fn write_summary(out: &mut String, comparison: &Comparison, style: Style) {
    let mut arms: Vec<String> = Vec::new();
    for cell in &comparison.cells {
        let name = label(cell);
        if !arms.contains(&name) {
            arms.push(name);
        }
    }
    let width = widest(arms.iter().map(String::len), "scheduler");
    let head = format!(
        "  {:width$}  {:>5}  {:>10}  {:>10}  {:>13}",
        "scheduler", "cells", "error mean", "error most", "of noop least"
    );
    let _ = writeln!(out, "\n{}\n{}", style.bold("over all of them"), style.dim(&head));
    for arm in &arms {
        let cells: Vec<&Cell> =
            comparison.cells.iter().filter(|cell| label(cell) == *arm).collect();
        let errors = cells.iter().map(|cell| cell.error_points());
        let mean = errors.clone().map(|(mean, _)| mean).sum::<f64>() / cells.len() as f64;
        let most = errors.map(|(_, most)| most).fold(0.0, f64::max);
        let least = cells.iter().filter_map(|cell| cell.of_noop).reduce(f64::min);
        let least = least.map_or_else(|| "-".to_owned(), |part| format!("{part:.2}"));
        let _ = writeln!(
            out,
            "  {arm:width$}  {:>5}  {mean:>10.1}  {most:>10.1}  {least:>13}",
            cells.len()
        );
    }
}
