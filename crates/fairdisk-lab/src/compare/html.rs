//! A comparison as a page.

use super::table::{has_flushes, parts_text, promises_text};
use super::{Cell, CellGroup, Comparison, MissingCells, RefusedCell, to_json};
use crate::digits::ms;
use crate::outcome::{milliseconds, or_dash};
use crate::page::{Made, list};
use crate::plots::{self, ArmPlot, GroupPlot};
use fairdisk_page::{Page, Part, Section, Table};

const HOW_TO_READ: &str = "Dots: the part of the disk's work that a group got. Strokes: the part \
                           that it is entitled to.";

/// The comparison as an HTML page. `made` tells how it came about.
#[must_use]
pub fn to_html(comparison: &Comparison, made: &Made<'_>) -> String {
    let heading = format!("{}: {}", comparison.experiment, comparison.title);
    let mut page = Page::new(format!("Compare: {}", comparison.title), heading);
    page.summary = vec![Part::Remark(format!("In the lab, {}.", comparison.runs()))];
    page.summary.extend(comparison.notes().map(|note| Part::Text(note.to_owned())));
    page.summary.push(summary(comparison));
    page.sections = sections(comparison);
    let refused = comparison.refused.iter();
    let refused = refused.map(|RefusedCell { device, row, arm, reason }| {
        format!("{arm} on {device}, {row}: {reason}")
    });
    page.sections.extend(list("Refused", refused.collect()));
    let missing = comparison.missing.iter();
    let missing = missing
        .map(|MissingCells { device, row, arms }| format!("{device}, {row}: {}", arms.join(", ")));
    page.sections.extend(list("Not run", missing.collect()));
    page.results = to_json(comparison);
    page.to_html(made)
}

/// A section with charts and figures for each device and row.
pub(crate) fn sections(comparison: &Comparison) -> Vec<Section> {
    let section = |cells: &[Cell]| {
        let first = &cells[0];
        let heading = format!("{}, {}", first.device, first.row);
        let arms: Vec<ArmPlot<'_>> = cells.iter().map(plot).collect();
        plots::row(Section::new(heading, HOW_TO_READ), &arms).with(figures(cells))
    };
    comparison.blocks().map(section).collect()
}

fn plot(cell: &Cell) -> ArmPlot<'_> {
    ArmPlot {
        name: cell.label(),
        ios_per_s: (cell.ios_per_s, cell.ios_per_s_sd),
        published_ios_per_s: None,
        mb_per_s: cell.mb_per_s,
        groups: cell.groups.iter().map(group_plot).collect(),
    }
}

fn group_plot(CellGroup { parts, outcome, .. }: &CellGroup) -> GroupPlot<'_> {
    GroupPlot {
        asked: parts.as_ref().map(|parts| parts.asked),
        got: parts.as_ref().map(|parts| parts.got),
        outcome,
    }
}

/// The figures of one device and row, folded.
fn figures(cells: &[Cell]) -> Part {
    let flushes = has_flushes(cells);
    let mut head = vec!["scheduler", "group", "I/Os/s", "of noop", "work", "asked %", "got %"];
    head.extend(["got/asked", "p50 ms", "p99 ms", "p99.9 ms", "wait ms"]);
    head.extend(flushes.then_some("fsync p99 ms"));
    head.push("promised");
    let lines = cells.iter().flat_map(|cell| {
        let groups = cell.reported().enumerate();
        groups.map(move |(at, group)| line(cell, at == 0, group, flushes))
    });
    let table = Table::new(&head, 2, lines.collect());
    Part::Folded("Figures".to_owned(), vec![Part::Table(table)])
}

fn line(cell: &Cell, is_first: bool, group: &CellGroup, flushes: bool) -> Vec<String> {
    let once = |text: String| if is_first { text } else { String::new() };
    let outcome = &group.outcome;
    let quantile = |per_mille| milliseconds(&outcome.latency, per_mille);
    let [asked, got, _, of_asked] = parts_text(group.parts);
    let mut line = vec![
        once(cell.label()),
        outcome.name.clone(),
        once(format!("{:.0}", cell.ios_per_s)),
        once(or_dash(cell.of_noop, |part| format!("{part:.2}"))),
        once(format!("{:.1} %", cell.work * 100.0)),
        asked,
        got,
        of_asked,
        quantile(500),
        quantile(990),
        quantile(999),
        ms(outcome.wait_max_ms),
    ];
    line.extend(flushes.then(|| milliseconds(&outcome.directions.flush.latency, 990)));
    line.push(promises_text(&group.promises));
    line
}

/// Each arm over all devices and rows.
fn summary(comparison: &Comparison) -> Part {
    let head = [
        "scheduler",
        "cells",
        "error mean, points",
        "most",
        "got/asked, least",
        "of noop, mean",
        "least",
        "promises kept",
    ];
    let line = |sum: &super::Summary| [sum.arm.clone()].into_iter().chain(sum.columns()).collect();
    Part::Table(Table::new(&head, 1, comparison.summary().iter().map(line).collect()))
}
