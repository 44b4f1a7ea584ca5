//! The report as a text table.

use super::{Report, words};
use crate::blame::{Effect, Ends, FactorSet};
use crate::columns::{padded, width};
use crate::outcome::{Spread, Style, notes};
use std::fmt::Write as _;

/// Columns of the longest bar.
const BAR_WIDTH: f64 = 24.0;
/// The most mixtures to show.
const MIXTURES_MAX: usize = 32;
/// The most pairs to show.
const PAIRS_MAX: usize = 5;

/// The report as text.
#[must_use]
pub fn to_table(report: &Report, style: Style) -> String {
    let mut out = String::new();
    let found = &report.findings;
    line(&mut out, &style.bold(&report.title));
    let runs = words::runs(found);
    line(&mut out, &style.dim(&format!("{} on {}, {runs}", report.unit, report.place)));
    if let Some(ends) = &found.ends {
        write_ends(&mut out, report, ends);
        if found.method.is_some() {
            out.push('\n');
            line(&mut out, &style.bold(&words::verdict(report)));
            line(&mut out, &style.dim(&format!("  {}", words::effort(report))));
            write_effects(&mut out, report, ends, style);
            words::together(report).iter().for_each(|text| line(&mut out, &format!("  {text}")));
            write_pairs(&mut out, report);
        } else if !found.suspects.is_empty() {
            let names = words::list(&report.names(found.suspects));
            line(&mut out, &format!("\nseen to make a difference so far: {names}"));
        }
    }
    let mut section = |title: &str, lines: &[String]| {
        if !lines.is_empty() {
            let _ = writeln!(out, "\n{}", style.bold(title));
            lines.iter().for_each(|text| line(&mut out, &format!("  {text}")));
        }
    };
    if report.shell != "lab" {
        section("mixtures, by what is bad in them", &mixtures(report));
    }
    if let Some(undo) = &found.undo {
        section("to undo", &[words::undo(report, undo)]);
    }
    if let Some(bisection) = &found.bisection {
        section("a bisection", &words::bisection(report, bisection));
    }
    if let Some((at, [good, bad])) = words::divergence(report) {
        let ends = [format!("good  {good}"), format!("bad   {bad}")];
        section(&format!("the first decision that differs, {at}"), &ends);
    }
    let notes = notes(&report.caveats, &report.excluded);
    if !notes.is_empty() {
        out.push('\n');
        notes.iter().for_each(|note| line(&mut out, &style.dim(note)));
    }
    if let Some(halt) = words::halt(report) {
        line(&mut out, &format!("\n{halt}"));
    }
    out
}

fn line(out: &mut String, text: &str) {
    out.push_str(text.trim_end());
    out.push('\n');
}

fn write_ends(out: &mut String, report: &Report, ends: &Ends) {
    out.push('\n');
    let names = width(&report.good).max(width(&report.bad));
    let (good, bad) = (Spread::of(&ends.good), Spread::of(&ends.bad));
    let mean_and_sd = |value: Spread| {
        format!("{:>9} ± {:<8}", words::number(value.mean), words::number(value.sd))
    };
    line(out, &format!("  good  {}  {}", padded(&report.good, names), mean_and_sd(good)));
    let whole = ends.whole();
    let part = words::of_good(ends);
    let (bad, whole) = (mean_and_sd(bad), words::signed(whole));
    line(out, &format!("  bad   {}  {bad}  {whole}{part}", padded(&report.bad, names)));
    if let Some(published) = &report.published {
        line(out, &format!("  published, in %: {}", published.words()));
    }
    if let Some(note) = words::ends_note(ends) {
        line(out, &format!("  {note}"));
    }
}

fn write_effects(out: &mut String, report: &Report, ends: &Ends, style: Style) {
    let found = &report.findings;
    let (real, noise): (Vec<&Effect>, Vec<&Effect>) =
        found.effects.iter().partition(|effect| !effect.is_noise);
    let names = real.iter().map(|effect| width(report.name(effect.factor)));
    let names = names.max().unwrap_or(0).max(16);
    let largest = real.iter().map(|effect| effect.part.mean.abs()).fold(0.0, f64::max);
    if !real.is_empty() {
        let head = format!(
            "  {:names$}  {:>9}   {:<8} {:>8}  {:>9}  {:>9}",
            "change", "part", "± sd", "of it", "alone", "undone"
        );
        line(out, &style.dim(&head));
    }
    for effect in &real {
        let share =
            if ends.differ { words::percent(effect.part.mean / ends.whole()) } else { "-".into() };
        let optional = |value: Option<f64>| value.map_or("-".to_owned(), words::signed);
        line(
            out,
            &format!(
                "  {}  {:>9} ± {:<8} {share:>8}  {:>9}  {:>9}  {}",
                padded(report.name(effect.factor), names),
                words::signed(effect.part.mean),
                words::number(effect.part.sd),
                optional(effect.first),
                optional(effect.undone()),
                bar(effect.part.mean, largest, ends.whole()),
            ),
        );
        let change = &report.changes[effect.factor];
        let values = format!("{} → {}", change.good, change.bad);
        let about = match &change.about {
            Some(about) => {
                format!("{values}; {}{}", about.source(" "), about.summary)
            }
            None => values,
        };
        line(out, &style.dim(&format!("    {about}")));
    }
    if !noise.is_empty() {
        let names: Vec<&str> = noise.iter().map(|effect| report.name(effect.factor)).collect();
        let sum: f64 = noise.iter().map(|effect| effect.part.mean).sum();
        let (names, sum) = (words::list(&names), words::signed(sum));
        line(out, &format!("  within the noise: {names} ({sum})"));
    }
    if let Some(rest) = &found.rest {
        let (count, part) = (rest.factors.len(), words::signed(rest.part.mean));
        let sd = words::number(rest.part.sd);
        let noise = if rest.is_noise { ", within the noise" } else { "" };
        let noun = if count == 1 { "change" } else { "changes together" };
        line(out, &format!("  the other {count} {noun}: {part} ± {sd}{noise}"));
    }
}

/// The values of each mixture, one line each.
fn mixtures(report: &Report) -> Vec<String> {
    let all = &report.findings.mixtures;
    let name = |set: FactorSet| match set.is_empty() {
        true => "none".to_owned(),
        false if set.len() == report.changes.len() => "all".to_owned(),
        false => report.names(set).join(", "),
    };
    let shown: Vec<(String, &Vec<f64>)> =
        all.iter().take(MIXTURES_MAX).map(|(set, values)| (name(*set), values)).collect();
    let names = shown.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
    let text = |(name, values): &(String, &Vec<f64>)| {
        let Spread { mean, sd } = Spread::of(values);
        let each: Vec<String> = values.iter().map(|value| words::number(*value)).collect();
        let (mean, sd) = (words::number(mean), words::number(sd));
        format!("{}  {mean:>9} ± {sd:<8}  {}", padded(name, names), each.join(" "))
    };
    let more = all.len().saturating_sub(MIXTURES_MAX);
    let more = (more > 0).then(|| format!("and {more} more, which --json lists"));
    shown.iter().map(text).chain(more).collect()
}

/// Writes the pairs with a significant interaction.
fn write_pairs(out: &mut String, report: &Report) {
    let (real, more) = words::pairs(&report.findings, PAIRS_MAX);
    if real.is_empty() {
        return;
    }
    line(out, "\npairs: what one of them adds more when the other one is there");
    for pair in real {
        let [one, other] = pair.factors.map(|factor| report.name(factor));
        let (mean, sd) = (words::signed(pair.interaction.mean), words::number(pair.interaction.sd));
        line(out, &format!("  {mean:>9} ± {sd:<8}  {one} × {other}"));
    }
    if let Some(more) = more {
        line(out, &format!("  {more}"));
    }
}

/// A bar; solid if the value has the direction of the whole.
fn bar(value: f64, largest: f64, whole: f64) -> String {
    let columns = (value.abs() / largest * BAR_WIDTH).round().max(1.0) as usize;
    let letter = if value * whole >= 0.0 { "█" } else { "▒" };
    letter.repeat(columns)
}
