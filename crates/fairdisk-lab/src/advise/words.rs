//! What is said of advice, as text and on a page.

use super::{Advice, Kind, Tried, Verdict};
use crate::catalog::library::under_mounts;
use crate::compare::{CellGroup, Parts};
use crate::outcome::runs;
use crate::plan::Spec;
use crate::seconds::seconds;

/// Where a try was run, for how long and how often.
pub(super) fn place(tried: &Tried) -> String {
    let cell = &tried.cell;
    let (length, runs) = (seconds(cell.duration_s), runs(cell.seeds));
    format!("on {}, {}, {length}, {runs}{}", cell.device, cell.row, lack(tried))
}

/// The name of a try, and what its figures lack.
pub(super) fn label(tried: &Tried) -> String {
    format!("{}{}", tried.name, lack(tried))
}

fn lack(tried: &Tried) -> String {
    tried.cell.lack().map_or_else(String::new, |lack| format!(", {lack}"))
}

/// How many of the wishes came true in a try.
pub(super) fn met(tried: &Tried) -> String {
    format!("{}/{}", tried.met(), tried.verdicts.len())
}

/// The throughput of a try as a part of that of `noop`.
pub(super) fn of_noop(tried: &Tried) -> String {
    tried.cell.of_noop.map_or_else(|| "-".to_owned(), |part| format!("{part:.2}"))
}

/// What each wish came to in a try.
pub(super) fn outcomes(tried: &Tried) -> String {
    let got = |verdict: &Verdict| match verdict.enforced {
        true => verdict.got.clone(),
        false => format!("{}: {}", verdict.word(), verdict.got),
    };
    tried.verdicts.iter().map(got).collect::<Vec<_>>().join("; ")
}

/// What the wish with this index came to in the proposal, and what is to be known about that.
pub(super) fn answer(advice: &Advice, best: &Tried, wish: usize) -> String {
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

/// Instead of a wish, for a group that wishes for no share.
pub(super) const NO_SHARE: &str = "no share wished";

/// What the groups get that wish for no share, by their names: raising what others have takes from
/// them.
pub(super) fn others(advice: &Advice, best: &Tried) -> Vec<(String, String)> {
    let wishes =
        |at: usize| advice.wishes.iter().any(|wish| wish.group == at && wish.kind == Kind::Share);
    let others = best.cell.groups.iter().filter(|group| !wishes(group.at));
    let words = |group: &CellGroup| {
        let rate = group.outcome.ios.mean / best.cell.duration_s.max(1e-9);
        let got = group.parts.map_or_else(
            || "nothing".to_owned(),
            |Parts { got, asked, .. }| {
                format!("{:.1} of {:.1} %, {rate:.0} I/Os/s", got * 100.0, asked * 100.0)
            },
        );
        (group.outcome.name.clone(), got)
    };
    others.map(words).collect()
}

/// What is proposed, and how near to the wishes it comes.
pub(super) fn proposal(advice: &Advice, best: &Tried) -> String {
    let of_what = if advice.partial.is_some() { " of what was tried so far" } else { "" };
    let nearest = if advice.is_granted() { "" } else { ", the nearest to the wishes" };
    format!("proposed{of_what}{nearest}: {}", best.scheduler)
}

/// The part of the throughput of `noop` from which on nothing that keeps more is named.
const DEAR: f64 = 0.5;

/// Of a proposal that costs more than half of the throughput, the try that keeps most, twice as
/// much at least, and misses nothing but shares.
pub(super) fn cheaper(advice: &Advice, best: &Tried) -> Option<String> {
    let kept = |tried: &Tried| tried.cell.of_noop.unwrap_or(0.0);
    let dear = best.cell.of_noop.is_some_and(|part| part < DEAR);
    let misses = |tried: &Tried| -> Vec<usize> {
        let worse = |at: &usize| best.verdicts[*at].met && !tried.verdicts[*at].met;
        (0..advice.wishes.len()).filter(worse).collect()
    };
    let only_shares =
        |tried: &&Tried| misses(tried).iter().all(|at| advice.wishes[*at].kind == Kind::Share);
    let others = advice.tried.iter().filter(|one| dear && kept(one) >= 2.0 * kept(best));
    let other = others.filter(only_shares).max_by(|one, two| kept(one).total_cmp(&kept(two)))?;
    let missed = misses(other).into_iter().map(|at| {
        let (wish, got) = (&advice.wishes[at], &other.verdicts[at].got);
        format!("{} {} ({got})", wish.name, wish.text)
    });
    let missed = missed.collect::<Vec<_>>().join(", ");
    Some(format!("{} keeps {}, and misses {missed}", label(other), of_noop(other)))
}

/// What the lines of a proposal are part of.
pub(super) const fn file(advice: &Advice) -> [&'static str; 2] {
    match advice.spec {
        Spec::Experiment => ["an experiment", "experiment"],
        Spec::JobFile => ["a job file", "job file"],
        Spec::Trace => ["options of a replay", "replay"],
    }
}

/// What leads to the commands for a mount, or why there are none.
pub(super) fn on_a_mount(best: &Tried, has_commands: bool) -> String {
    if has_commands {
        return "on a mount, for cgroups of these names:".to_owned();
    }
    let name = &best.scheduler;
    let instead = under_mounts(name)
        .map_or_else(String::new, |id| format!("; they run {id}, try --scheduler {id}"));
    format!(
        "on a mount: not to be had, for mounts do not run {name} with the settings tried \
         here{instead}"
    )
}
