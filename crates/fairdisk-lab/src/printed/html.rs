//! The figures of sources as a page.

use super::Printed;
use super::table::{HEAD, WORDS, about, columns};
use crate::outcome::{Score, score_lines, write_notes, write_table};
use crate::page::{Made, escape, page};
use std::fmt::Write as _;

/// The figures of all these experiments as a page. `made` tells how it came about.
#[must_use]
pub fn to_html(all: &[Printed], made: &Made<'_>) -> String {
    let title = "All that was published, beside the lab";
    let mut body = format!("<h1>{title}</h1>\n");
    for printed in all {
        let outcome = &printed.outcome;
        let heading = format!("{}: {}", outcome.experiment, outcome.title);
        let _ = writeln!(body, "<h2>{}</h2>", escape(&heading));
        let _ = writeln!(body, "<p class=\"dim\">{}</p>", escape(&about(printed)));
        let head: Vec<&str> = HEAD.into_iter().chain([""]).collect();
        let lines = printed.lines.iter().map(|line| {
            let mark = if line.resists() { "resists" } else { "" };
            columns(line).into_iter().chain([mark.to_owned()]).collect()
        });
        write_table(&mut body, &head, WORDS, lines);
        for line in Score::of(outcome).iter().flat_map(score_lines) {
            let _ = writeln!(body, "<p>{}</p>", escape(&line));
        }
        let estimates = outcome.estimates.iter().filter_map(|estimate| estimate.note());
        let notes: Vec<String> = estimates.chain(outcome.caveats.iter().cloned()).collect();
        write_notes(&mut body, &notes, &outcome.excluded);
    }
    page(title, body, made)
}
