//! The figures of sources as text.

use super::{Line, Printed};
use crate::columns::padded;
use crate::digits::signed;
use crate::outcome::{Score, or_dash};
use crate::outcome::{Series, Style, notes, score_lines, widest};
use std::fmt::Write as _;

/// The columns of a figure; those from the fourth on are numbers.
pub(super) const HEAD: [&str; 9] =
    ["row", "arm", "of", "figure", "published", "ours ± sd", "off by", "estimate", "off by"];

/// How many of the columns are words.
pub(super) const WORDS: usize = 4;

/// The figures of all these experiments as text.
#[must_use]
pub fn to_table(all: &[Printed], style: Style) -> String {
    let sections: Vec<String> = all.iter().map(|printed| section(printed, style)).collect();
    sections.join("\n")
}

fn section(printed: &Printed, style: Style) -> String {
    let outcome = &printed.outcome;
    let mut out = String::new();
    let title = format!("{}: {}", outcome.experiment, outcome.title);
    let _ = writeln!(out, "{}", style.bold(&title));
    let _ = writeln!(out, "{}", style.dim(&about(printed)));
    let lines: Vec<Vec<String>> = printed.lines.iter().map(columns).collect();
    let column = |at: usize| widest(lines.iter().map(|line| &line[at]), HEAD[at]);
    let widths: Vec<usize> = (0..HEAD.len()).map(column).collect();
    let write = |texts: &[String]| {
        let cells = texts.iter().zip(&widths).enumerate().map(|(at, (text, width))| {
            if at < WORDS { padded(text, *width) } else { format!("{text:>width$}") }
        });
        let cells: Vec<String> = cells.collect();
        format!("  {}", cells.join("  ")).trim_end().to_owned()
    };
    let _ = writeln!(out, "{}", style.dim(&write(&HEAD.map(str::to_owned))));
    for (texts, line) in lines.iter().zip(&printed.lines) {
        let mark = if line.resists() { "  resists" } else { "" };
        let _ = writeln!(out, "{}{mark}", write(texts));
    }
    for line in Score::of(outcome).iter().flat_map(score_lines) {
        let _ = writeln!(out, "{line}");
    }
    for note in resisting(printed) {
        let _ = writeln!(out, "{}", style.dim(&note));
    }
    out
}

/// Who published it, and how often it was run.
pub(super) fn about(printed: &Printed) -> String {
    let outcome = &printed.outcome;
    format!("published by {}; on {}, {}", outcome.source, outcome.device, outcome.runs())
}

/// What is said about figures that resist, and about estimates.
pub(super) fn resisting(printed: &Printed) -> Vec<String> {
    let outcome = &printed.outcome;
    let estimates = outcome.estimates.iter().filter_map(|estimate| estimate.note());
    estimates.chain(notes(&outcome.caveats, &outcome.excluded)).collect()
}

/// The columns of a figure, in the order of [`HEAD`].
pub(super) fn columns(line: &Line) -> Vec<String> {
    let number = super::words;
    let ours = |series: &Series| match series.each.len() {
        0 | 1 => number(series.mean),
        _ => format!("{} ± {}", number(series.mean), number(series.sd)),
    };
    let off = |error: f64| format!("{} {}", signed(error), line.off.words());
    vec![
        line.row.clone(),
        line.arm.clone(),
        line.of.clone(),
        line.figure.clone(),
        line.published.clone(),
        or_dash(line.ours.as_ref(), ours),
        or_dash(line.error, off),
        line.estimate.map_or_else(String::new, number),
        line.estimate_error().map_or_else(String::new, off),
    ]
}
