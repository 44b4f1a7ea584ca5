//! The curves of a sweep as text.

use super::{Curve, Point, SweepOutcome};
use crate::columns::width;
use crate::outcome::{RefusedRow, Series, Style, TWO_REGIMES, digits, notes, runs, widest};
use std::fmt::Write as _;

/// The curves as text.
#[must_use]
pub fn to_table(outcome: &SweepOutcome, style: Style) -> String {
    let mut out = String::new();
    let heading = format!("{}: {}", outcome.experiment, outcome.title);
    let _ = writeln!(out, "{}", style.bold(&heading));
    if !outcome.question.is_empty() {
        let _ = writeln!(out, "{}", outcome.question);
    }
    let _ = writeln!(out, "{}", style.dim(&about(outcome)));
    for curve in &outcome.curves {
        write_curve(&mut out, outcome, curve, style);
    }
    if !outcome.refused.is_empty() {
        let _ = writeln!(out, "\n{}", style.bold("refused"));
    }
    for RefusedRow { arm, row, reason } in &outcome.refused {
        let _ = writeln!(out, "  {arm}, {row}: {reason}");
    }
    let notes = notes(&outcome.caveats, &[]);
    if !notes.is_empty() {
        out.push('\n');
    }
    for note in notes {
        let _ = writeln!(out, "{}", style.dim(&note));
    }
    out
}

/// Where it was run, how often, and over which key.
pub(super) fn about(outcome: &SweepOutcome) -> String {
    let spread = if outcome.seeds > 1 { " ± sd" } else { "" };
    let runs = runs(outcome.seeds as usize);
    format!("on {} (lab), {runs}{spread}, over {}", outcome.device, outcome.key)
}

fn write_curve(out: &mut String, outcome: &SweepOutcome, curve: &Curve, style: Style) {
    let Curve { arm, row, metrics, points } = curve;
    let _ = writeln!(out, "\n{}", style.bold(&format!("{arm}, {row}")));
    let values = widest(points.iter().map(|point| &point.value), &outcome.key);
    let mut head = format!("  {:>values$}", outcome.key);
    let mut lines: Vec<String> =
        points.iter().map(|point| format!("  {:>values$}", point.value)).collect();
    for (at, metric) in metrics.iter().enumerate() {
        let cells = points.iter().map(|point| cell(point, at, outcome.seeds));
        let cells: Vec<String> = cells.collect();
        let words = metric.words();
        let column = widest(cells.iter(), &words);
        let fill = |text: &str| " ".repeat(column.saturating_sub(width(text)));
        let _ = write!(head, "  {}{words}", fill(&words));
        for (line, cell) in lines.iter_mut().zip(cells) {
            let _ = write!(line, "  {}{cell}", fill(&cell));
        }
    }
    let _ = writeln!(out, "{}", style.dim(&head));
    for (line, point) in lines.iter_mut().zip(points) {
        if point.runs < outcome.seeds as usize {
            let _ = write!(line, "  partial: {} of {} runs", point.runs, outcome.seeds);
        }
        let _ = writeln!(out, "{line}");
    }
    for line in regime_lines(outcome, curve) {
        let _ = writeln!(out, "  {line}");
    }
}

/// A figure of a point: its mean and spread.
pub(super) fn cell(point: &Point, at: usize, seeds: u32) -> String {
    match point.figures.get(at).and_then(Option::as_ref) {
        None => "-".to_owned(),
        Some(series) if series.regimes().is_some() => TWO_REGIMES.to_owned(),
        Some(Series { mean, sd, .. }) if seeds > 1 => {
            format!("{} ± {}", digits(*mean), digits(*sd))
        }
        Some(Series { mean, .. }) => digits(*mean),
    }
}

/// One line for each figure whose runs fall into two regimes.
pub(super) fn regime_lines(outcome: &SweepOutcome, curve: &Curve) -> Vec<String> {
    let of_point = |point: &Point| {
        let figures = curve.metrics.iter().zip(&point.figures);
        let regimes = figures.filter_map(|(metric, series)| {
            let words = series.as_ref()?.regimes()?.words("", digits);
            Some(format!("{}={}, {}: {words}", outcome.key, point.value, metric.words()))
        });
        regimes.collect::<Vec<_>>()
    };
    curve.points.iter().flat_map(of_point).collect()
}
