//! The report of a real run about its backend and its punctuality, beside its results.

use super::Run;
use fairdisk_core::Span;
use fairdisk_lab::outcome::{Backend, LatenessMs};
use fairdisk_lab::plan::Plan;
use fairdisk_plane::{Lateness, ShellReport};
use std::fmt::Write as _;

/// How a row was run, for results.
pub(crate) fn backend(report: &ShellReport) -> Backend {
    Backend {
        name: report.backend.name.to_owned(),
        why: report.backend.why.clone(),
        device_requests: report.requests,
        errors: report.errors,
        first_error: report.first_error.map(|error| error.to_string()),
        timer_lateness_ms: lateness(&report.timer_lateness),
        completion_lateness_ms: report.completion_lateness.as_ref().map(lateness),
    }
}

fn lateness(lateness: &Lateness) -> LatenessMs {
    let ms = |span: Span| span.as_ns() as f64 / 1e6;
    let Lateness { count, p50, p99, max } = *lateness;
    LatenessMs { count, p50: ms(p50), p99: ms(p99), max: ms(max) }
}

/// The reports of all runs as text.
pub(crate) fn to_text(plan: &Plan, runs: &[Run]) -> String {
    let mut text = String::new();
    if let Some(run) = runs.first() {
        let backend = &run.report.backend;
        let _ = writeln!(text, "\nbackend: {} ({})", backend.name, backend.why);
    }
    for run in runs {
        let arm = &plan.arms[run.ensemble.arm].name;
        let row = &plan.rows[run.ensemble.row].label;
        let _ = writeln!(text, "lateness, {arm}, {row}");
        let _ = writeln!(text, "  timers       {}", run.report.timer_lateness);
        if let Some(completions) = &run.report.completion_lateness {
            let _ = writeln!(text, "  completions  {completions}");
        }
    }
    text
}
