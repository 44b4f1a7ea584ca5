//! The report as an HTML page.

mod chart;

use super::{Report, words};
use crate::blame::{Effect, Ends};
use crate::outcome::{Spread, write_notes};
use crate::page::{Made, escape, page};
use std::fmt::Write as _;

/// The most pairs to show.
const PAIRS_MAX: usize = 8;

/// The report as an HTML page. `made` tells how it came about.
#[must_use]
pub fn to_html(report: &Report, made: &Made<'_>) -> String {
    let found = &report.findings;
    let mut body = String::new();
    let runs = words::runs(found);
    let _ = write!(
        body,
        "<h1>{}</h1>\n<p class=\"dim\">{} on {}, {runs}</p>\n",
        escape(&report.title),
        escape(&report.unit),
        escape(&report.place),
    );
    if let Some(halt) = words::halt(report) {
        let _ = writeln!(body, "<p class=\"warn\">{}</p>", escape(&halt));
    }
    if let Some(ends) = &found.ends {
        write_ends(&mut body, report, ends);
        if found.method.is_some() {
            write_effects(&mut body, report, ends);
            for text in words::together(report) {
                let _ = writeln!(body, "<p>{}.</p>", escape(&text));
            }
            write_pairs(&mut body, report, ends);
        }
        write_undo(&mut body, report);
        write_bisection(&mut body, report, ends);
    }
    write_divergence(&mut body, report);
    write_changes(&mut body, report);
    write_notes(&mut body, &report.caveats, &report.excluded);
    page(&format!("Blame: {}", report.title), body, made)
}

fn write_ends(body: &mut String, report: &Report, ends: &Ends) {
    let whole = ends.whole();
    let part = words::of_good(ends);
    let _ = writeln!(
        body,
        "<p class=\"verdict\">{}{part}: {}</p>",
        words::signed(whole),
        escape(&words::verdict(report)),
    );
    if let Some(published) = &report.published {
        let _ = writeln!(body, "<p>Published, in %: {}.</p>", published.words());
    }
    if let Some(note) = words::ends_note(ends) {
        let _ = writeln!(body, "<p class=\"warn\">{note}</p>");
    }
    let row = |name: &str, values: &[f64]| chart::Row {
        name: name.to_owned(),
        spread: Spread::of(values),
        note: String::new(),
    };
    let good = row(&format!("good: {}", report.good), &ends.good);
    let bad = row(&format!("bad: {}", report.bad), &ends.bad);
    body.push_str(&chart::bars("Both ends", &[good, bad], 0.0));
}

fn write_effects(body: &mut String, report: &Report, ends: &Ends) {
    let found = &report.findings;
    let real: Vec<&Effect> = found.effects.iter().filter(|effect| !effect.is_noise).collect();
    let _ = write!(
        body,
        "<h2>What each change cost</h2>\n<p class=\"dim\">Shapley values, {}. They and what the other \
         changes do together sum to {}.</p>\n",
        escape(&words::effort(report)),
        words::signed(ends.whole()),
    );
    let mut rows: Vec<chart::Row> = real
        .iter()
        .map(|effect| chart::Row {
            name: report.name(effect.factor).to_owned(),
            spread: effect.part,
            note: match ends.differ {
                true => words::percent(effect.part.mean / ends.whole()),
                false => String::new(),
            },
        })
        .collect();
    if let Some(rest) = &found.rest {
        rows.push(chart::Row {
            name: format!("the other {}", rest.factors.len()),
            spread: rest.part,
            note: if rest.is_noise { "within the noise".to_owned() } else { String::new() },
        });
    }
    body.push_str(&chart::bars("Parts of the whole", &rows, ends.whole()));
    if real.is_empty() {
        return;
    }
    body.push_str(
        "<table>\n<tr><th>change</th><th>part</th><th>alone</th><th>undone</th><th>what it is</th>\
         </tr>\n",
    );
    let optional = |value: Option<f64>| value.map_or("-".to_owned(), words::signed);
    for effect in real {
        let change = &report.changes[effect.factor];
        let about = change.about.as_ref().map_or_else(String::new, |about| {
            format!("<br>{}{}", escape(&about.source(", ")), escape(&about.summary))
        });
        let _ = writeln!(
            body,
            "<tr><td><code>{}</code></td><td class=\"n\">{} ± {}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{}</td><td>{} → {}{about}</td></tr>",
            escape(&change.name),
            words::signed(effect.part.mean),
            words::number(effect.part.sd),
            optional(effect.first),
            optional(effect.undone()),
            escape(&change.good),
            escape(&change.bad),
        );
    }
    body.push_str(
        "</table>\n<p class=\"dim\">Alone: made before the other suspects. Undone: taken back in the \
         bad end.</p>\n",
    );
}

fn write_pairs(body: &mut String, report: &Report, ends: &Ends) {
    let (real, more) = words::pairs(&report.findings, PAIRS_MAX);
    let rows: Vec<chart::Row> = real
        .iter()
        .map(|pair| chart::Row {
            name: pair.factors.map(|factor| report.name(factor)).join(" × "),
            spread: pair.interaction,
            note: String::new(),
        })
        .collect();
    if rows.is_empty() {
        return;
    }
    body.push_str(
        "<h2>Pairs</h2>\n<p class=\"dim\">What one of them adds more when the other one is there.</p>\n",
    );
    body.push_str(&chart::bars("Interactions", &rows, ends.whole()));
    if let Some(more) = more {
        let _ = writeln!(body, "<p class=\"dim\">{more}</p>");
    }
}

fn write_undo(body: &mut String, report: &Report) {
    if let Some(undo) = &report.findings.undo {
        let _ =
            write!(body, "<h2>What to undo</h2>\n<p>{}.</p>\n", escape(&words::undo(report, undo)));
    }
}

fn write_bisection(body: &mut String, report: &Report, ends: &Ends) {
    let Some(bisection) = &report.findings.bisection else { return };
    body.push_str("<h2>What a bisection would have answered</h2>\n<ul>\n");
    for line in words::bisection(report, bisection) {
        let _ = writeln!(body, "<li>{}</li>", escape(&line));
    }
    body.push_str("</ul>\n");
    body.push_str(&chart::ways(bisection, ends, report.changes.len()));
}

fn write_divergence(body: &mut String, report: &Report) {
    if let Some((at, [good, bad])) = words::divergence(report) {
        let _ = write!(
            body,
            "<h2>The first decision that differs</h2>\n<p>{}</p>\n<table>\n<tr><th>good</th><td>{}\
             </td></tr>\n<tr><th>bad</th><td>{}</td></tr>\n</table>\n",
            escape(&at),
            escape(&good),
            escape(&bad),
        );
    }
}

/// Writes all changes, including those without an effect.
fn write_changes(body: &mut String, report: &Report) {
    let count = words::count(report.changes.len(), "change");
    let _ = write!(
        body,
        "<details>\n<summary>All {count}</summary>\n<table>\n<tr><th>change</th><th>good</th>\
         <th>bad</th><th>seen to do something</th></tr>\n"
    );
    for (factor, change) in report.changes.iter().enumerate() {
        let seen = if report.findings.suspects.contains(factor) { "yes" } else { "" };
        let _ = writeln!(
            body,
            "<tr><td><code>{}</code></td><td>{}</td><td>{}</td><td>{seen}</td></tr>",
            escape(&change.name),
            escape(&change.good),
            escape(&change.bad),
        );
    }
    body.push_str("</table>\n</details>\n");
}
