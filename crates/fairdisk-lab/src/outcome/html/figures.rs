//! The figures of one row under each arm, as tables.

use crate::digits;
use crate::outcome::split::mean_or_regimes;
use crate::outcome::table::{
    figure_columns, given_up, has_flushes, milliseconds, or_dash, rate_number, reads, still_dirty,
    title,
};
use crate::outcome::{
    DisksOutcome, FigureOutcome, GroupOutcome, MemoryOutcome, Outcome, PayersOutcome, RowOutcome,
    TaskOutcome, Throughput, memory, part,
};
use fairdisk_page::{Part, Table};
use fairdisk_sim::host::Payer;

/// All figures of a row, folded.
pub(super) fn figures(outcome: &Outcome, arms: &[&RowOutcome]) -> Part {
    let mut parts = vec![groups(outcome, arms)];
    let has = |any: fn(&RowOutcome) -> bool| arms.iter().any(|arm| any(arm));
    if has(|arm| !arm.tasks.is_empty()) {
        let head = ["arm", "task", "MB/s", "published", "seconds", "published", "finished"];
        let tasks = |arm: &&RowOutcome| {
            arm.tasks.iter().map(|task| task_columns(&arm.arm, task)).collect::<Vec<_>>()
        };
        parts.push(table(&head, 2, arms, tasks));
    }
    parts.extend(throughput(arms));
    if has(|arm| !arm.figures.is_empty()) {
        let head = ["arm", "of", "figure", "ours ± sd", "published", "off by"];
        let figures = |arm: &&RowOutcome| {
            let columns = |figure: &FigureOutcome| {
                let words = [arm.arm.clone(), figure.whom.words(), figure.quantity.words()];
                words.into_iter().chain(figure_columns(figure)).collect::<Vec<_>>()
            };
            arm.figures.iter().map(columns).collect::<Vec<_>>()
        };
        parts.push(table(&head, 3, arms, figures));
    }
    if has(|arm| arm.payers.is_some()) {
        parts.extend(payers(arms));
    }
    if has(|arm| arm.memory.is_some()) {
        let head: Vec<&str> = ["arm"].into_iter().chain(memory::HEAD).collect();
        parts.push(table(&head, 2, arms, |arm| named(&arm.arm, memory::columns(arm))));
    }
    let head: Vec<&str> = ["arm"].into_iter().chain(DisksOutcome::head()).collect();
    parts.push(table(&head, 1, arms, |arm| named(&arm.arm, arm.disks.columns())));
    parts.extend(arms.iter().map(|arm| accounts(arm)));
    Part::Folded("Figures".to_owned(), parts)
}

/// A table with the lines of each arm.
fn table(
    head: &[&str],
    words: usize,
    arms: &[&RowOutcome],
    lines: impl Fn(&&RowOutcome) -> Vec<Vec<String>>,
) -> Part {
    Part::Table(Table::new(head, words, arms.iter().flat_map(lines).collect()))
}

/// Lines of cells, each after the name of the arm.
fn named<C>(arm: &str, lines: impl IntoIterator<Item = C>) -> Vec<Vec<String>>
where
    C: IntoIterator<Item = String>,
{
    let line = |cells: C| [arm.to_owned()].into_iter().chain(cells).collect();
    lines.into_iter().map(line).collect()
}

/// What became of all requests.
fn accounts(arm: &RowOutcome) -> Part {
    let memory = arm.memory.iter().flat_map(MemoryOutcome::lines);
    let notes = still_dirty(arm).into_iter().chain(memory).chain(given_up(arm));
    let notes: String = notes.map(|note| format!("; {note}")).collect();
    let RowOutcome { arm: name, submitted, completed, in_flight, errors, .. } = arm;
    Part::Remark(format!(
        "{name}: {submitted} submitted = {completed} completed + {in_flight} in flight; {errors} \
         failed{notes}; journal {:016x}",
        arm.journal_hash,
    ))
}

/// Who pays for what was written back by each rule.
fn payers(arms: &[&RowOutcome]) -> Vec<Part> {
    let of_arms = || arms.iter().filter_map(|arm| Some((&arm.arm, arm.payers.as_ref()?)));
    let rules = Payer::ALL.map(Payer::name);
    let head: Vec<&str> = ["arm", PayersOutcome::TITLE].into_iter().chain(rules).collect();
    let lines = of_arms().flat_map(|(arm, payers)| {
        payers.groups().map(move |(name, columns)| {
            [arm.as_str(), name].map(str::to_owned).into_iter().chain(columns).collect()
        })
    });
    let mut parts = vec![Part::Table(Table::new(&head, 2, lines.collect()))];
    for (arm, payers) in of_arms() {
        parts.extend(payers.notes().into_iter().map(|note| Part::Text(format!("{arm}: {note}"))));
    }
    parts
}

/// The lines of iozone's report.
fn throughput(arms: &[&RowOutcome]) -> Vec<Part> {
    let of_arm = |arm: &&RowOutcome| {
        let lines = arm.throughput.iter().flat_map(Throughput::lines);
        let lines: Vec<String> = lines.collect();
        [Part::Text(arm.arm.clone()), Part::Verbatim(lines.join("\n"))]
    };
    arms.iter().filter(|arm| !arm.throughput.is_empty()).flat_map(of_arm).collect()
}

/// The figures of groups; those of flushes only if there were any.
fn groups(outcome: &Outcome, arms: &[&RowOutcome]) -> Part {
    let mut head = vec![
        "arm",
        "group",
        "I/Os",
        "share %",
        "± sd",
        "published",
        "estimate",
        "MB/s",
        "asked %",
        "got %",
        "got/asked",
        "read %",
        "p50 ms",
        "p99 ms",
        "max ms",
        "longest wait ms",
    ];
    let flushes = arms.iter().any(|arm| has_flushes(arm));
    if flushes {
        head.extend(["fsync p50 ms", "fsync p99 ms"]);
    }
    table(&head, 2, arms, |arm| {
        let line = |(at, group): (usize, &GroupOutcome)| {
            let mut line = vec![if at == 0 { title(outcome, arm) } else { String::new() }];
            line.extend(group_columns(group, arm.duration_s));
            let flush = &group.directions.flush.latency;
            let quantiles: &[u32] = if flushes { &[500, 990] } else { &[] };
            line.extend(quantiles.iter().map(|per_mille| milliseconds(flush, *per_mille)));
            line
        };
        arm.groups.iter().enumerate().map(line).collect()
    })
}

fn group_columns(group: &GroupOutcome, duration_s: f64) -> [String; 15] {
    let percent = |part: f64| format!("{:.1}", part * 100.0);
    let published = group.published.as_ref().and_then(|published| published.share);
    let expected = group.published.as_ref().and_then(|published| published.expected);
    let latency = |per_mille| milliseconds(&group.latency, per_mille);
    [
        group.name.clone(),
        mean_or_regimes(&group.ios, |ios| format!("{ios:.0}")),
        mean_or_regimes(group.compared_share(), percent),
        mean_or_regimes(group.compared_share(), |_| percent(group.compared_share().sd)),
        or_dash(published, percent),
        or_dash(expected, percent),
        rate_number(part(group.bytes, duration_s) / 1e6),
        or_dash(group.disk.asked, percent),
        percent(group.disk.got),
        or_dash(group.disk.got_of_asked(), |part| format!("{part:.2}")),
        reads(group),
        latency(500),
        latency(990),
        ms(group, group.latency.max().as_ns()),
        digits::ms(group.wait_max_ms),
    ]
}

/// A latency in ms; `-` if there were no I/Os.
fn ms(group: &GroupOutcome, ns: u64) -> String {
    if group.latency.count() == 0 { "-".to_owned() } else { digits::ms(ns as f64 / 1e6) }
}

fn task_columns(arm: &str, task: &TaskOutcome) -> Vec<String> {
    let published = |figure: Option<f64>| or_dash(figure, |figure| format!("{figure:.1}"));
    vec![
        arm.to_owned(),
        task.name.clone(),
        mean_or_regimes(&task.mb_per_s, |rate| format!("{rate:.1}")),
        published(task.published_mb_per_s),
        mean_or_regimes(&task.seconds, |seconds| format!("{seconds:.1}")),
        published(task.published_seconds),
        if task.finished { "yes" } else { "no" }.to_owned(),
    ]
}
