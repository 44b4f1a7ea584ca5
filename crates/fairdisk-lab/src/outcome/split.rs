//! Figures of a row whose runs fall into two regimes or differ widely, in words.

use super::table::{digits, rate_number};
use super::{RowOutcome, Series};

/// What stands in place of a mean that no run had.
pub(crate) const TWO_REGIMES: &str = "2 regimes";

/// The mean in words, or that there are two regimes.
pub(super) fn mean_or_regimes(series: &Series, words: impl FnOnce(f64) -> String) -> String {
    match series.regimes() {
        Some(_) => TWO_REGIMES.to_owned(),
        None => words(series.mean),
    }
}

/// How far runs lie apart that differ widely, as a standard deviation: of a share of the I/Os, and
/// of another figure as a part of its mean.
const APART_SHARE: f64 = 0.02;
const APART_PART: f64 = 0.1;

/// One line for each figure of the row whose runs fall into two regimes, and for each share, total
/// or rate whose runs differ widely otherwise.
pub(super) fn lines(row: &RowOutcome) -> Vec<String> {
    regime_lines(row).into_iter().chain(apart_lines(row)).collect()
}

fn whole(value: f64) -> String {
    format!("{value:.0}")
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

fn regime_lines(row: &RowOutcome) -> Vec<String> {
    let mut lines = Vec::new();
    let mut add = |name: &str, series: &Series, unit: &str, number: &dyn Fn(f64) -> String| {
        let regimes = series.regimes();
        lines.extend(regimes.map(|regimes| format!("{name}: {}", regimes.words(unit, number))));
        regimes.is_some()
    };
    for group in &row.groups {
        add(&group.name, &group.ios, "I/Os", &whole);
        add(&group.name, group.compared_share(), "% of the I/Os", &percent);
    }
    add("total", &row.total_ios, "I/Os", &whole);
    for task in &row.tasks {
        // Where a task does a fixed amount of work, one says what the other does.
        if !add(&task.name, &task.mb_per_s, "MB/s", &rate_number) {
            add(&task.name, &task.seconds, "s", &|seconds| format!("{seconds:.1}"));
        }
    }
    for test in &row.throughput {
        add(test.name, &test.children_kb_per_s, "kB/sec", &whole);
    }
    for figure in &row.figures {
        if let Some(ours) = &figure.ours {
            add(&figure.whom.words(), ours, &figure.quantity.words(), &digits);
        }
    }
    lines
}

fn apart_lines(row: &RowOutcome) -> Vec<String> {
    let mut lines = Vec::new();
    let mut add = |name: &str, series: &Series, apart: f64, number: &dyn Fn(f64) -> String| {
        if series.sd > apart && series.regimes().is_none() {
            let least = series.each.iter().copied().fold(f64::INFINITY, f64::min);
            let most = series.each.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            lines.push(format!("{name}: runs differ, {} to {}", number(least), number(most)));
        }
    };
    for group in &row.groups {
        let words = |share: f64| format!("{} %", percent(share));
        add(&group.name, group.compared_share(), APART_SHARE, &words);
    }
    let part = |series: &Series| APART_PART * series.mean;
    add("total", &row.total_ios, part(&row.total_ios), &|ios| format!("{} I/Os", whole(ios)));
    for task in &row.tasks {
        let words = |rate: f64| format!("{} MB/s", rate_number(rate));
        add(&task.name, &task.mb_per_s, part(&task.mb_per_s), &words);
    }
    lines
}
