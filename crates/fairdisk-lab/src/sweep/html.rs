//! The curves of a sweep as an HTML page.

mod plot;

use super::table::{about, cell, regime_lines};
use super::{Curve, SweepOutcome};
use crate::metric::Metric;
use crate::outcome::{RefusedRow, write_notes, write_table};
use crate::page::{Made, escape, page};
use plot::{Line, picture};
use std::fmt::Write as _;

/// The curves as an HTML page. `made` tells how it came about.
#[must_use]
pub fn to_html(outcome: &SweepOutcome, made: &Made<'_>) -> String {
    to_html_below(outcome, "", made)
}

/// The curves as an HTML page, below an answer to the question, which is HTML.
pub(crate) fn to_html_below(outcome: &SweepOutcome, answer: &str, made: &Made<'_>) -> String {
    let mut body = String::new();
    let [experiment, title, question] =
        [&outcome.experiment, &outcome.title, &outcome.question].map(|text| escape(text));
    let _ = writeln!(body, "<h1>{experiment}: {title}</h1>");
    if !question.is_empty() {
        let _ = writeln!(body, "<p>{question}</p>");
    }
    body.push_str(answer);
    let _ = writeln!(
        body,
        "<p class=\"dim\">{}. A small dot is a run, the line goes through the means; where runs \
         fall into two regimes it is broken, and a ring is the mean of each.</p>",
        escape(&about(outcome))
    );
    write_curves(&mut body, outcome);
    if !outcome.refused.is_empty() {
        body.push_str("<h2>Refused</h2>\n<ul>\n");
    }
    for RefusedRow { arm, row, reason } in &outcome.refused {
        let [arm, row, reason] = [arm, row, reason].map(|text| escape(text));
        let _ = writeln!(body, "<li>{arm}, {row}: {reason}</li>");
    }
    if !outcome.refused.is_empty() {
        body.push_str("</ul>\n");
    }
    write_notes(&mut body, &outcome.caveats, &[]);
    page(&outcome.title, body, made)
}

/// Writes the pictures and the figures of all rows.
pub(crate) fn write_curves(body: &mut String, outcome: &SweepOutcome) {
    for curves in outcome.curves.chunk_by(|one, next| one.row == next.row) {
        write_row(body, outcome, curves);
    }
}

/// Writes the pictures and the figures of one row under each arm.
fn write_row(body: &mut String, outcome: &SweepOutcome, curves: &[Curve]) {
    let Some(first) = curves.first() else { return };
    let _ = writeln!(body, "<h2>{}</h2>", escape(&first.row));
    let is_share = |metric: &Metric| matches!(metric, Metric::Share(_));
    for (at, metric) in first.metrics.iter().enumerate().filter(|(_, metric)| !is_share(metric)) {
        let lines: Vec<Line<'_>> =
            curves.iter().map(|curve| Line { name: &curve.arm, curve, at }).collect();
        body.push_str(&picture(&outcome.key, &metric.words(), &lines));
    }
    for curve in curves {
        let shares = curve.metrics.iter().enumerate();
        let lines: Vec<Line<'_>> = shares
            .filter_map(|(at, metric)| match metric {
                Metric::Share(name) => Some(Line { name, curve, at }),
                _ => None,
            })
            .collect();
        if !lines.is_empty() {
            let title = format!("{}: shares of the I/Os in %", curve.arm);
            body.push_str(&picture(&outcome.key, &title, &lines));
        }
    }
    for curve in curves {
        for line in regime_lines(outcome, curve) {
            let _ =
                writeln!(body, "<p class=\"warn\">{}, {}</p>", escape(&curve.arm), escape(&line));
        }
    }
    write_figures(body, outcome, curves);
}

fn write_figures(body: &mut String, outcome: &SweepOutcome, curves: &[Curve]) {
    let Some(first) = curves.first() else { return };
    body.push_str("<details>\n<summary>Figures</summary>\n");
    let words: Vec<String> = first.metrics.iter().map(Metric::words).collect();
    let head = ["arm", &outcome.key].into_iter().chain(words.iter().map(String::as_str));
    let head: Vec<&str> = head.collect();
    let lines = curves.iter().flat_map(|curve| {
        curve.points.iter().map(|point| {
            let figures = (0..curve.metrics.len()).map(|at| cell(point, at, outcome.seeds));
            [curve.arm.clone(), point.value.clone()].into_iter().chain(figures).collect()
        })
    });
    write_table(body, &head, 1, lines);
    body.push_str("</details>\n");
}
