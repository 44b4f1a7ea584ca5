//! Advice as a page.

use super::settings::{check, commands, in_a_line, lines};
use super::words::{
    NO_SHARE, answer, file, label, met, of_noop, on_a_mount, others, outcomes, place, proposal,
};
use super::{Advice, Tried, to_json};
use crate::compare;
use crate::page::Made;
use crate::sweep;
use fairdisk_page::charts::{Axis, Bar, Bars};
use fairdisk_page::{Page, Part, Section, Table};

/// The advice as an HTML page. `made` tells how it came about.
#[must_use]
pub fn to_html(advice: &Advice, made: &Made<'_>) -> String {
    let heading = format!("{}: {}", advice.experiment, advice.title);
    let mut page = Page::new(format!("Advise: {}", advice.title), heading);
    if let Some(best) = advice.proposed() {
        page.summary = vec![
            Part::Verdict(capital(&proposal(advice, best))),
            Part::Remark(format!("In the lab, {}.", place(best))),
            wishes(advice, best),
        ];
        page.sections.push(proposed(advice, best));
    }
    page.sections.push(tried(advice));
    if let Some(need) = &advice.memory {
        let lines = need.answer().into_iter().chain(need.as_options());
        let mut section = Section::new("Memory", "");
        section.parts.extend(lines.map(Part::Text));
        page.sections.push(section);
        page.sections.extend(sweep::sections(&need.curves));
    }
    page.sections.extend(compare::sections(&advice.comparison));
    if let Some(note) = advice.comparison.note() {
        page.summary.push(Part::Text(note.to_owned()));
    }
    page.results = to_json(advice);
    page.to_html(made)
}

/// The wishes and what the proposal makes of each.
fn wishes(advice: &Advice, best: &Tried) -> Part {
    let wish = |at: usize| {
        let (wish, word) = (&advice.wishes[at], best.verdicts[at].word());
        vec![wish.name.clone(), wish.text.clone(), word.to_owned(), answer(advice, best, at)]
    };
    let other = |(name, got)| vec![name, NO_SHARE.to_owned(), "-".to_owned(), got];
    let lines = (0..advice.wishes.len()).map(wish);
    let lines = lines.chain(others(advice, best).into_iter().map(other)).collect();
    let head = ["group", "wish", "comes true", "what it came to"];
    Part::Table(Table::new(&head, head.len(), lines))
}

fn proposed(advice: &Advice, best: &Tried) -> Section {
    let [place, file] = file(advice);
    let commands = commands(advice, best);
    let steps = [
        (format!("In {place}:"), lines(advice, best)),
        (format!("To run it again, with that {file} in FILE:"), check(advice, best)),
        (capital(&on_a_mount(best, !commands.is_empty())), commands.join("\n")),
    ];
    let mut section = Section::new("How to have it", "");
    for (lead, text) in steps {
        section.parts.push(Part::Text(lead));
        let text = text.trim_end().to_owned();
        section.parts.extend((!text.is_empty()).then_some(Part::Verbatim(text)));
    }
    section
}

/// The results and the settings of every try.
fn tried(advice: &Advice) -> Section {
    let line = |one: &Tried| {
        let settings = in_a_line(one, &advice.groups);
        let rate = format!("{:.1}", one.cell.mb_per_s);
        vec![label(one), settings, outcomes(one), met(one), rate, of_noop(one)]
    };
    let bar = |one: &Tried| Bar::new(label(one), one.cell.mb_per_s);
    let bars = Bars::new(Axis::linear("MB per second"), advice.tried.iter().map(bar).collect());
    let head = ["scheduler", "settings", "what the wishes came to", "wishes", "MB/s", "of noop"];
    let table = Table::new(&head, 3, advice.tried.iter().map(line).collect());
    let mut section = Section::new("What was tried", "")
        .with(Part::Table(table))
        .with(Part::Chart(bars.chart("Throughput of what was tried")));
    let refused = advice.refused.iter().map(|(name, reason)| format!("{name}: {reason}"));
    section.parts.extend(refused.map(Part::Text));
    section
}

/// A text that begins with a capital letter.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    first + letters.as_str()
}
