//! Advice as text.

use super::settings::{check, commands, in_a_line, lines};
use super::words::{
    NO_SHARE, answer, cheaper, file, label, met, of_noop, on_a_mount, others, outcomes, place,
    proposal,
};
use super::{Advice, Tried};
use crate::columns::padded;
use crate::memory;
use crate::outcome::{Style, widest};
use std::fmt::Write as _;

/// The advice as text.
#[must_use]
pub fn to_table(advice: &Advice, style: Style) -> String {
    let mut out = String::new();
    let heading = format!("{}: {}", advice.experiment, advice.title);
    let _ = writeln!(out, "{}", style.bold(&heading));
    if let Some(partial) = &advice.partial {
        let _ = writeln!(out, "{}", style.bold(partial));
    }
    let Some(best) = advice.proposed() else { return out };
    let _ = writeln!(out, "{}", style.dim(&place(best)));
    // Its lines are for files and shells, as they are.
    write_proposal(&mut out, advice, best, style);
    out + &style.folded(&evidence(advice, best, style))
}

/// The wishes, the tries behind the proposal, and what is to be known about them.
fn evidence(advice: &Advice, best: &Tried, style: Style) -> String {
    let mut out = String::new();
    write_wishes(&mut out, advice, best, style);
    write_tried(&mut out, advice, style);
    write_refused(&mut out, advice);
    if let Some(need) = &advice.memory {
        let options = need.as_options().map(|text| format!("    {text}\n")).unwrap_or_default();
        let _ = write!(out, "\n{}{options}", memory::to_table(need, style));
        let _ = writeln!(out, "{}", advice.memory_note());
    }
    if let Some(note) = advice.comparison.note() {
        let _ = writeln!(out, "\n{} {note}", style.dim("note:"));
    }
    out
}

/// Writes the wishes and what the proposal makes of each.
fn write_wishes(out: &mut String, advice: &Advice, best: &Tried, style: Style) {
    let _ = writeln!(out, "\n{}", style.bold("wishes, and what comes of them as proposed"));
    let others = others(advice, best);
    let names = advice.wishes.iter().map(|wish| &wish.name);
    let groups = widest(names.chain(others.iter().map(|(name, _)| name)), "");
    let texts = widest(advice.wishes.iter().map(|wish| &wish.text), NO_SHARE);
    for (at, wish) in advice.wishes.iter().enumerate() {
        let verdict = &best.verdicts[at];
        let _ = writeln!(
            out,
            "  {}  {}  {:4}  {}",
            padded(&wish.name, groups),
            padded(&wish.text, texts),
            verdict.word(),
            answer(advice, best, at),
        );
    }
    for (name, got) in others {
        let (name, text) = (padded(&name, groups), padded(NO_SHARE, texts));
        let _ = writeln!(out, "  {name}  {text}  {:4}  {got}", "-");
    }
}

/// Writes the evidence: the results of every try.
fn write_tried(out: &mut String, advice: &Advice, style: Style) {
    let names = widest(advice.tried.iter().map(label), "scheduler");
    let head = format!(
        "  {:names$}  {:>6}  {:>8}  {:>7}  what the wishes came to",
        "scheduler", "wishes", "MB/s", "of noop"
    );
    let _ = writeln!(out, "\n{}\n{}", style.bold("what was tried"), style.dim(&head));
    for one in &advice.tried {
        let _ = writeln!(
            out,
            "  {}  {:>6}  {:>8.2}  {:>7}  {}",
            padded(&label(one), names),
            met(one),
            one.cell.mb_per_s,
            of_noop(one),
            outcomes(one),
        );
        if one.round > 0 {
            let _ = writeln!(out, "  {:names$}  {}", "", in_a_line(one, &advice.groups));
        }
    }
}

fn write_refused(out: &mut String, advice: &Advice) {
    for (name, reason) in &advice.refused {
        let _ = writeln!(out, "  {name}: {reason}");
    }
}

fn write_proposal(out: &mut String, advice: &Advice, best: &Tried, style: Style) {
    let _ = writeln!(out, "\n{}", style.bold(&proposal(advice, best)));
    if let Some(part) = best.cell.of_noop {
        let _ = writeln!(out, "  with {part:.2} of the throughput that noop has");
    }
    if let Some(cheaper) = cheaper(advice, best) {
        let _ = writeln!(out, "  {cheaper}");
    }
    let [place, file] = file(advice);
    let _ = writeln!(out, "{}", style.dim(&format!("  in {place}:")));
    for line in lines(advice, best).lines() {
        let _ = writeln!(out, "{}", format!("    {line}").trim_end());
    }
    let again = format!("  to run it again, with that {file} in FILE:");
    let _ = writeln!(out, "{}", style.dim(&again));
    let _ = writeln!(out, "    {}", check(advice, best));
    let commands = commands(advice, best);
    let on_a_mount = format!("  {}", on_a_mount(best, !commands.is_empty()));
    let _ = writeln!(out, "{}", style.dim(&on_a_mount));
    for line in commands {
        let _ = writeln!(out, "    {line}");
    }
}
