//! Figures of a row whose runs fall into two regimes, in words.

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

/// One line for each figure of the row whose runs fall into two regimes.
pub(super) fn lines(row: &RowOutcome) -> Vec<String> {
    let whole = |value: f64| format!("{value:.0}");
    let mut lines = Vec::new();
    let mut add = |name: &str, series: &Series, unit: &str, number: &dyn Fn(f64) -> String| {
        let regimes = series.regimes();
        lines.extend(regimes.map(|regimes| format!("{name}: {}", regimes.words(unit, number))));
        regimes.is_some()
    };
    for group in &row.groups {
        add(&group.name, &group.ios, "I/Os", &whole);
        let percent = |share: f64| format!("{:.1}", share * 100.0);
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
