//! Advice as text.

use super::settings::{check, commands, in_a_line, lines};
use super::{Advice, Tried, Verdict};
use crate::catalog::library::under_mounts;
use crate::compare::Cell;
use crate::outcome::{Style, runs, widest};
use crate::plan::Spec;
use crate::seconds::seconds;
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
    let cell = &best.cell;
    let runs = runs(cell.seeds);
    let length = seconds(cell.duration_s);
    let lack = lack(cell);
    let place = format!("on {}, {}, {length}, {runs}{lack}", cell.device, cell.row);
    let _ = writeln!(out, "{}", style.dim(&place));
    write_wishes(&mut out, advice, best, style);
    write_tried(&mut out, advice, style);
    write_refused(&mut out, advice);
    write_proposal(&mut out, advice, best, style);
    if let Some(note) = advice.comparison.note() {
        let _ = writeln!(out, "\n{} {note}", style.dim("note:"));
    }
    out
}

/// What the figures of a try lack, after its name.
fn lack(cell: &Cell) -> String {
    cell.lack().map_or_else(String::new, |lack| format!(", {lack}"))
}

/// Writes the wishes and what the proposal makes of each.
fn write_wishes(out: &mut String, advice: &Advice, best: &Tried, style: Style) {
    let _ = writeln!(out, "\n{}", style.bold("wishes, and what comes of them as proposed"));
    let groups = widest(advice.wishes.iter().map(|wish| &wish.name), "");
    let texts = widest(advice.wishes.iter().map(|wish| &wish.text), "");
    for (at, wish) in advice.wishes.iter().enumerate() {
        let verdict = &best.verdicts[at];
        let _ = writeln!(
            out,
            "  {:groups$}  {:texts$}  {:4}  {}",
            wish.name,
            wish.text,
            verdict.word(),
            answer(advice, best, at),
        );
    }
}

/// What the wish with this index came to in the proposal, and what is to be known about that.
fn answer(advice: &Advice, best: &Tried, wish: usize) -> String {
    let (verdict, limit) = (&best.verdicts[wish], &advice.limits[wish]);
    let got = &verdict.got;
    match limit {
        Some(limit) => format!("{got} ({limit})"),
        None if verdict.met && !verdict.enforced => {
            format!("{got} (under this load; {} does not enforce it)", best.scheduler)
        }
        None => got.clone(),
    }
}

/// Writes the evidence: the results of every try.
fn write_tried(out: &mut String, advice: &Advice, style: Style) {
    let label = |one: &Tried| format!("{}{}", one.name, lack(&one.cell));
    let names = widest(advice.tried.iter().map(label), "scheduler");
    let head = format!(
        "  {:names$}  {:>6}  {:>8}  {:>7}  what the wishes came to",
        "scheduler", "wishes", "MB/s", "of noop"
    );
    let _ = writeln!(out, "\n{}\n{}", style.bold("what was tried"), style.dim(&head));
    for one in &advice.tried {
        let rate = one.cell.of_noop.map_or_else(|| "-".to_owned(), |part| format!("{part:.2}"));
        let got = |verdict: &Verdict| match verdict.enforced {
            true => verdict.got.clone(),
            false => format!("{}: {}", verdict.word(), verdict.got),
        };
        let got: Vec<String> = one.verdicts.iter().map(got).collect();
        let met = format!("{}/{}", one.met(), one.verdicts.len());
        let _ = writeln!(
            out,
            "  {:names$}  {met:>6}  {:>8.2}  {rate:>7}  {}",
            label(one),
            one.cell.mb_per_s,
            got.join("; "),
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
    let of_what = if advice.partial.is_some() { " of what was tried so far" } else { "" };
    let nearest = if advice.is_granted() { "" } else { ", the nearest to the wishes" };
    let heading = format!("proposed{of_what}{nearest}: {}", best.scheduler);
    let _ = writeln!(out, "\n{}", style.bold(&heading));
    let (place, file) = match advice.spec {
        Spec::Experiment => ("an experiment", "experiment"),
        Spec::JobFile => ("a job file", "job file"),
    };
    let _ = writeln!(out, "{}", style.dim(&format!("  in {place}:")));
    for line in lines(advice, best).lines() {
        let _ = writeln!(out, "{}", format!("    {line}").trim_end());
    }
    let again = format!("  to run it again, with that {file} in FILE:");
    let _ = writeln!(out, "{}", style.dim(&again));
    let _ = writeln!(out, "    {}", check(advice, best));
    let commands = commands(advice, best);
    let on_a_mount = match commands.is_empty() {
        true => {
            let name = &best.scheduler;
            let instead = under_mounts(name)
                .map_or_else(String::new, |id| format!("; they run {id}, try --scheduler {id}"));
            format!(
                "  on a mount: not to be had, for mounts do not run {name} with the settings tried \
                 here{instead}"
            )
        }
        false => "  on a mount, for cgroups of these names:".to_owned(),
    };
    let _ = writeln!(out, "{}", style.dim(&on_a_mount));
    for line in commands {
        let _ = writeln!(out, "    {line}");
    }
}
