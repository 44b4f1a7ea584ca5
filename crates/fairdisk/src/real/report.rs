//! The report of a real run about its backend and its punctuality, beside its results.

use super::Run;
use fairdisk_core::Span;
use fairdisk_lab::plan::Plan;
use fairdisk_plane::{Lateness, ShellReport};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// One run's report as JSON. Latenesses are in milliseconds.
pub(crate) fn to_json(report: &ShellReport) -> Value {
    json!({
        "name": report.backend.name,
        "why": report.backend.why,
        "device_requests": report.requests,
        "errors": report.errors,
        "first_error": report.first_error.map(|error| error.to_string()),
        "timer_lateness_ms": lateness(&report.timer_lateness),
        "completion_lateness_ms": report.completion_lateness.as_ref().map(lateness),
    })
}

fn ms(span: Span) -> f64 {
    span.as_ns() as f64 / 1e6
}

fn lateness(lateness: &Lateness) -> Value {
    json!({
        "count": lateness.count,
        "p50": ms(lateness.p50),
        "p99": ms(lateness.p99),
        "max": ms(lateness.max),
    })
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
