//! The figures of sources as a page.

use super::table::{HEAD, WORDS, about, columns};
use super::{Printed, to_json};
use crate::outcome::{Score, score_lines};
use crate::page::Made;
use fairdisk_page::{Page, Part, Section, Table};

/// The figures of all these experiments as a page. `made` tells how it came about.
#[must_use]
pub fn to_html(all: &[Printed], made: &Made<'_>) -> String {
    let title = "All that was published, beside the lab";
    let mut page = Page::new(title, title);
    page.sections = all.iter().map(section).collect();
    page.results = to_json(all);
    page.to_html(made)
}

fn section(printed: &Printed) -> Section {
    let outcome = &printed.outcome;
    let heading = format!("{}: {}", outcome.experiment, outcome.title);
    let head: Vec<&str> = HEAD.into_iter().chain([""]).collect();
    let lines = printed.lines.iter().map(|line| {
        let mark = if line.resists() { "resists" } else { "" };
        columns(line).into_iter().chain([mark.to_owned()]).collect()
    });
    let table = Table::new(&head, WORDS, lines.collect());
    let mut section = Section::new(heading, about(printed)).with(Part::Table(table));
    let score = Score::of(outcome);
    section.parts.extend(score.iter().flat_map(score_lines).map(Part::Text));
    let estimates = outcome.estimates.iter().filter_map(|estimate| estimate.note());
    let notes: Vec<String> = estimates.chain(outcome.caveats.iter().cloned()).collect();
    for (words, texts) in [("Notes", notes), ("Excluded", outcome.excluded.clone())] {
        if !texts.is_empty() {
            section.parts.push(Part::Folded(words.to_owned(), vec![Part::List(texts)]));
        }
    }
    section
}
