//! Results as a table for people.

use super::{GroupOutcome, Outcome, RowOutcome, Score, TaskOutcome};
use crate::run::{RUN_MAX, RunEnd};
use std::fmt::Write as _;

/// How to write it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// With terminal colours.
    pub colour: bool,
}

impl Style {
    fn bold(self, text: &str) -> String {
        if self.colour { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn dim(self, text: &str) -> String {
        if self.colour { format!("\x1b[2m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// The outcome as text.
#[must_use]
pub fn to_table(outcome: &Outcome, style: Style) -> String {
    let mut out = String::new();
    line(&mut out, &style.bold(&format!("{}: {}", outcome.experiment, outcome.title)));
    if !outcome.question.is_empty() {
        line(&mut out, &outcome.question);
    }
    if !outcome.source.is_empty() {
        line(&mut out, &style.dim(&format!("published by {}", outcome.source)));
    }
    let runs = match outcome.seeds {
        1 => "1 run".to_owned(),
        seeds => format!("mean of {seeds} runs ± sd"),
    };
    let on = outcome.shell.name();
    line(&mut out, &style.dim(&format!("on {} ({on}), {runs}", outcome.device)));
    for row in &outcome.rows {
        write_row(&mut out, outcome, row, style);
    }
    if let Some(score) = Score::of(outcome) {
        out.push('\n');
        write_score(&mut out, &score);
    }
    if !outcome.caveats.is_empty() {
        out.push('\n');
        for caveat in &outcome.caveats {
            line(&mut out, &style.dim(&format!("note: {caveat}")));
        }
    }
    out
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

fn write_row(out: &mut String, outcome: &Outcome, row: &RowOutcome, style: Style) {
    out.push('\n');
    line(out, &style.bold(&title(outcome, row)));
    let width = row.groups.iter().map(|group| group.name.len()).max().unwrap_or(0).max(5);
    let head = format!(
        "  {:width$}  {:>9}  {:>12}  {:>9}  {:>6}  {:>6}  {:>6}  {:>8}  {:>8}",
        "group", "IOs", "share %", "published", "error", "time %", "read %", "p50 ms", "p99 ms"
    );
    line(out, &style.dim(&head));
    for group in &row.groups {
        line(out, &group_line(group, width));
    }
    write_total(out, row, width);
    for task in &row.tasks {
        line(out, &task_line(task, width));
    }
    let conserved = format!(
        "  requests: {} submitted = {} completed + {} in flight",
        row.submitted, row.completed, row.in_flight
    );
    line(out, &style.dim(&conserved));
    if row.end == RunEnd::GivenUp {
        let hours = RUN_MAX.as_ns() / 3_600_000_000_000;
        line(
            out,
            &format!("  given up: not done after {hours} h, which is all these figures show"),
        );
    }
    if row.errors > 0 {
        line(out, &format!("  {} I/Os failed", row.errors));
    }
}

fn title(outcome: &Outcome, row: &RowOutcome) -> String {
    let scheduler =
        if row.arm == row.scheduler { String::new() } else { format!(" ({})", row.scheduler) };
    let mut text = format!("{}{scheduler}, {}, {:.0} s", row.arm, row.row, row.duration_s);
    let _ = match row.end {
        RunEnd::Failed => write!(text, ", partial: a request failed"),
        RunEnd::Interrupted => write!(text, ", partial: interrupted"),
        RunEnd::Planned | RunEnd::GivenUp if row.partial => {
            write!(text, ", partial: {} of {} runs", row.seeds, outcome.seeds)
        }
        RunEnd::Planned | RunEnd::GivenUp => Ok(()),
    };
    text
}

fn group_line(group: &GroupOutcome, width: usize) -> String {
    let published =
        group.published.map_or_else(|| "-".to_owned(), |p| format!("{:.1}", p.share * 100.0));
    let error = group.published.map_or_else(
        || "-".to_owned(),
        |published| format!("{:+.1}", (group.share.mean - published.share) * 100.0),
    );
    let reads = match group.published.and_then(|published| published.read_share) {
        Some(published) => format!("{:.0}/{:.0}", group.read_share * 100.0, published * 100.0),
        None => format!("{:.0}", group.read_share * 100.0),
    };
    format!(
        "  {:width$}  {:>9.0}  {:>6.1} ± {:>3.1}  {published:>9}  {error:>6}  {:>6.1}  {reads:>6}  {:>8.1}  {:>8.1}",
        group.name,
        group.ios,
        group.share.mean * 100.0,
        group.share.sd * 100.0,
        group.time_share * 100.0,
        group.latency.quantile(500).as_ns() as f64 / 1e6,
        group.latency.quantile(990).as_ns() as f64 / 1e6,
    )
}

fn write_total(out: &mut String, row: &RowOutcome, width: usize) {
    let mut text = format!("  {:width$}  {:>9.0}", "total", row.total_ios.mean);
    if row.seeds > 1 {
        let _ = write!(text, "  ± {:.0}", row.total_ios.sd);
    }
    if let Some(published) = row.published_total {
        let error = (row.total_ios.mean / published - 1.0) * 100.0;
        let _ = write!(text, ", published {published:.0} ({error:+.1} %)");
    }
    line(out, &text);
}

fn task_line(task: &TaskOutcome, width: usize) -> String {
    let mut text = format!(
        "  {:width$}  {:>6.1} MB/s, {:>6.0} IOPS in {:>5.1} s",
        task.name,
        task.mb_per_s.mean,
        if task.seconds.mean > 0.0 { task.ios / task.seconds.mean } else { 0.0 },
        task.seconds.mean
    );
    if let Some(published) = task.published_mb_per_s {
        let error = (task.mb_per_s.mean / published - 1.0) * 100.0;
        let _ = write!(text, ", published {published:.1} MB/s ({error:+.1} %)");
    }
    if !task.finished {
        text.push_str(", not finished");
    }
    text
}

fn write_score(out: &mut String, score: &Score) {
    if score.cells > 0 {
        let mut text = format!(
            "score: shares {:.2} points off on average, {:.2} at most, over {} cells",
            score.share_error_points_mean, score.share_error_points_max, score.cells
        );
        if let Some(total) = score.total_error_mean {
            let _ = write!(text, "; totals {:.1} % off", total * 100.0);
        }
        line(out, &text);
    }
    if let Some(rates) = score.rates {
        line(
            out,
            &format!(
                "score: rates {:.1} % off on average, {:.1} % at most, over {} tasks; finishing order right in {} of {} rows",
                rates.error_mean * 100.0,
                rates.error_max * 100.0,
                rates.tasks,
                rates.orders_right,
                rates.orders
            ),
        );
    }
}
