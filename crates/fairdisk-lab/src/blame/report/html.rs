//! The report as a page.

use super::{Report, to_json, words};
use crate::blame::{Bisection, Effect, Ends};
use crate::outcome::Spread;
use crate::page::{Made, notes};
use fairdisk_page::charts::{Axis, Bar, Bars, Line, Lines, Tone};
use fairdisk_page::{Page, Part, Section, Table};

/// The most pairs to show.
const PAIRS_MAX: usize = 8;

/// The report as an HTML page. `made` tells how it came about.
#[must_use]
pub fn to_html(report: &Report, made: &Made<'_>) -> String {
    let found = &report.findings;
    let mut page = Page::new(format!("Blame: {}", report.title), &report.title);
    page.summary = summary(report);
    let mut sections = Vec::new();
    if let Some(ends) = &found.ends {
        sections.push(Some(both_ends(report, ends)));
        if found.method.is_some() {
            sections.push(Some(effects(report, ends)));
            sections.push(pairs(report, ends));
        }
        let undo = found.undo.as_ref().map(|undo| {
            let text = Part::Text(format!("{}.", words::undo(report, undo)));
            Section::new("What to undo", "").with(text)
        });
        sections.push(undo);
        sections.push(found.bisection.as_ref().map(|it| bisection(report, it, ends)));
    }
    sections.push(divergence(report));
    sections.push(Some(changes(report)));
    page.sections = sections.into_iter().flatten().collect();
    page.sections.extend(notes(&report.caveats, &report.excluded));
    page.results = to_json(report);
    page.to_html(made)
}

fn summary(report: &Report) -> Vec<Part> {
    let found = &report.findings;
    let mut parts = Vec::new();
    if let Some(ends) = &found.ends {
        let (whole, part) = (words::signed(ends.whole()), words::of_good(ends));
        parts.push(Part::Verdict(format!("{whole}{part}: {}", words::verdict(report))));
    }
    let runs = words::runs(found);
    parts.push(Part::Remark(format!("{} on {}, {runs}", report.unit, report.place)));
    parts.extend(words::halt(report).map(Part::Warning));
    if found.ends.is_some() {
        let published = report.published.as_ref();
        let published = published.map(|it| format!("Published, in %: {}.", it.words()));
        parts.extend(published.map(Part::Text));
    }
    let note = found.ends.as_ref().and_then(words::ends_note);
    parts.extend(note.map(|note| Part::Warning(note.to_owned())));
    parts
}

/// A bar with its spread. Bars in the direction of `whole` are losses, those against it gains; with
/// a `whole` of 0 there is no direction.
fn bar(name: String, spread: Spread, note: String, whole: f64) -> Bar {
    let tone = match spread.mean * whole {
        way if way > 0.0 => Tone::Loss,
        way if way < 0.0 => Tone::Gain,
        _ => Tone::Neutral,
    };
    Bar { sd: Some(spread.sd), note, tone, ..Bar::new(name, spread.mean) }
}

fn bars(report: &Report, title: &str, bars: Vec<Bar>) -> Part {
    Part::Chart(Bars::new(Axis::linear(&report.unit), bars).chart(title))
}

fn both_ends(report: &Report, ends: &Ends) -> Section {
    let end = |name: String, values: &[f64]| bar(name, Spread::of(values), String::new(), 0.0);
    let both = vec![
        end(format!("good: {}", report.good), &ends.good),
        end(format!("bad: {}", report.bad), &ends.bad),
    ];
    Section::new("Both ends", "").with(bars(report, "Both ends", both))
}

fn effects(report: &Report, ends: &Ends) -> Section {
    let found = &report.findings;
    let real: Vec<&Effect> = found.effects.iter().filter(|effect| !effect.is_noise).collect();
    let sentence = format!(
        "Shapley values, {}. They and what the other changes do together sum to {}.",
        words::effort(report),
        words::signed(ends.whole()),
    );
    let part = |effect: &&Effect| {
        let name = report.name(effect.factor).to_owned();
        let note = match ends.differ {
            true => words::percent(effect.part.mean / ends.whole()),
            false => String::new(),
        };
        bar(name, effect.part, note, ends.whole())
    };
    let mut parts: Vec<Bar> = real.iter().map(part).collect();
    parts.extend(found.rest.as_ref().map(|rest| {
        let note = if rest.is_noise { "within the noise" } else { "" };
        let name = format!("the other {}", rest.factors.len());
        bar(name, rest.part, note.to_owned(), ends.whole())
    }));
    let mut section = Section::new("What each change cost", sentence);
    section.parts.push(bars(report, "Parts of the whole", parts));
    if !real.is_empty() {
        section.parts.push(effects_table(report, &real));
        section.parts.push(Part::Remark(
            "Alone: made before the other suspects. Undone: taken back in the bad end.".to_owned(),
        ));
    }
    let together = words::together(report).into_iter();
    section.parts.extend(together.map(|text| Part::Text(format!("{text}."))));
    section
}

fn effects_table(report: &Report, real: &[&Effect]) -> Part {
    let optional = |value: Option<f64>| value.map_or("-".to_owned(), words::signed);
    let line = |effect: &&Effect| {
        let change = &report.changes[effect.factor];
        let about = change
            .about
            .as_ref()
            .map_or_else(String::new, |about| format!("; {}{}", about.source(", "), about.summary));
        let part =
            format!("{} ± {}", words::signed(effect.part.mean), words::number(effect.part.sd));
        vec![
            change.name.clone(),
            format!("{} → {}{about}", change.good, change.bad),
            part,
            optional(effect.first),
            optional(effect.undone()),
        ]
    };
    let head = ["change", "what it is", "part", "alone", "undone"];
    Part::Table(Table::new(&head, 2, real.iter().map(line).collect()))
}

fn pairs(report: &Report, ends: &Ends) -> Option<Section> {
    let (real, more) = words::pairs(&report.findings, PAIRS_MAX);
    let pairs = real.iter().map(|pair| {
        let name = pair.factors.map(|factor| report.name(factor)).join(" × ");
        bar(name, pair.interaction, String::new(), ends.whole())
    });
    let pairs: Vec<Bar> = pairs.collect();
    if pairs.is_empty() {
        return None;
    }
    let sentence = "What one of them adds more when the other one is there.";
    let mut section = Section::new("Pairs", sentence).with(bars(report, "Interactions", pairs));
    section.parts.extend(more.map(Part::Remark));
    Some(section)
}

/// The runs of bisections: measured value by number of changes made, and the middle, which
/// separates good from bad.
fn bisection(report: &Report, bisection: &Bisection, ends: &Ends) -> Section {
    let all = report.changes.len() as f64;
    let middle = f64::midpoint(ends.good_mean(), ends.bad_mean());
    let way = |(at, steps): (usize, &Vec<_>)| {
        let point = |step: &crate::blame::Step| (step.changes as f64, Some(step.value));
        let mut points: Vec<(f64, Option<f64>)> = steps.iter().map(point).collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        Line { name: format!("bisection {}", at + 1), points, ..Line::default() }
    };
    let ends = vec![(0.0, Some(ends.good_mean())), (all, Some(ends.bad_mean()))];
    let straight = |name: &str, points| Line { name: name.to_owned(), points, ..Line::default() };
    let lines = bisection.ways.iter().enumerate().map(way).chain([
        straight("both ends", ends),
        straight("the middle", vec![(0.0, Some(middle)), (all, Some(middle))]),
    ]);
    let chart = Lines {
        x: Axis::linear("changes made"),
        y: Axis { title: report.unit.clone(), ..Axis::default() },
        has_steps: false,
        lines: lines.collect(),
    };
    let sentences = words::bisection(report, bisection);
    Section::new("What a bisection would have answered", "")
        .with(Part::List(sentences))
        .with(Part::Chart(chart.chart("The runs of the bisections")))
}

fn divergence(report: &Report) -> Option<Section> {
    let (at, [good, bad]) = words::divergence(report)?;
    let lines = [("good", good), ("bad", bad)].map(|(end, text)| vec![end.to_owned(), text]);
    let table = Table::new(&["end", "decision"], 2, lines.to_vec());
    Some(Section::new("The first decision that differs", at).with(Part::Table(table)))
}

/// All changes, including those without an effect.
fn changes(report: &Report) -> Section {
    let line = |(factor, change): (usize, &super::Change)| {
        let seen = if report.findings.suspects.contains(factor) { "yes" } else { "" };
        vec![change.name.clone(), change.good.clone(), change.bad.clone(), seen.to_owned()]
    };
    let head = ["change", "good", "bad", "seen to do something"];
    let lines = report.changes.iter().enumerate().map(line).collect();
    let table = Part::Table(Table::new(&head, head.len(), lines));
    let count = words::count(report.changes.len(), "change");
    let folded = Part::Folded(format!("All {count}"), vec![table]);
    Section::new("The changes", "").with(folded)
}
