//! Results as JSON. The names are an interface for other tools.

use super::score::FigureScore;
use super::{
    Amount, ChangeOutcome, Child, FigureOutcome, GroupOutcome, MemoryShare, Outcome, RefusedRow,
    Regime, Regimes, RowOutcome, Score, Series, TaskOutcome, Throughput, part,
};
use crate::catalog::experiment::{Estimate, PublishedChange, Quantity};
use crate::run::{EventRun, RunEnd};
use crate::seconds::in_seconds;
use fairdisk_core::{Histogram, Share, Span};
use serde_json::{Value, json};

/// The version of the JSON layout.
const SCHEMA: u32 = 1;

/// The outcome as a JSON object.
#[must_use]
pub fn to_json(outcome: &Outcome) -> Value {
    let mut value = json!({
        "schema": SCHEMA,
        "experiment": outcome.experiment,
        "title": outcome.title,
        "source": outcome.source,
        "shell": outcome.shell.name(),
        "device": outcome.device,
        "arms": outcome.arms,
        "rows": outcome.rows.iter().map(row).collect::<Vec<_>>(),
        "score": Score::of(outcome).map(|score| self::score(&score)),
        "caveats": outcome.caveats,
    });
    if !outcome.excluded.is_empty() {
        value["excluded"] = outcome.excluded.clone().into();
    }
    if !outcome.estimates.is_empty() {
        value["estimates"] = outcome.estimates.iter().map(estimate).collect();
    }
    if !outcome.refused.is_empty() {
        value["refused"] = outcome.refused.iter().map(refused).collect();
    }
    if !outcome.changes.is_empty() {
        value["changes"] = outcome.changes.iter().map(change).collect();
    }
    value
}

fn estimate(Estimate { arm, rows, percent, source }: &Estimate) -> Value {
    json!({ "arm": arm, "rows": rows, "percent": percent, "source": source })
}

fn refused(RefusedRow { arm, row, reason }: &RefusedRow) -> Value {
    json!({ "arm": arm, "row": row, "reason": reason })
}

/// A published change.
pub(crate) fn published_change(published: &PublishedChange) -> Value {
    if let Some(row) = &published.at {
        return json!({ "largest_in": row });
    }
    let [low, high] = published.allowed();
    // A side without a bound has no number.
    let bound = |bound: f64| bound.is_finite().then_some(bound);
    json!({ "percent_min": bound(low), "percent_max": bound(high) })
}

/// Adds the figure of each run, and the regimes that the runs fall into, if they do.
pub(crate) fn put_runs(value: &mut Value, name: &str, series: Option<&Series>) {
    let Some(series) = series.filter(|series| series.each.len() > 1) else { return };
    value[format!("{name}_each")] = json!(series.each);
    if let Some(Regimes(both)) = series.regimes() {
        let regime = |regime: &Regime| {
            json!({
                "runs": regime.runs, "min": regime.min, "max": regime.max, "mean": regime.mean
            })
        };
        value[format!("{name}_regimes")] = both.iter().map(regime).collect();
    }
}

/// Adds what a group or task had of the memory, where that is known.
fn put_memory(value: &mut Value, memory: Option<MemoryShare>) {
    if let Some(memory) = memory {
        value["memory"] = memory.json();
    }
}

fn change(change: &ChangeOutcome) -> Value {
    let mut value = json!({
        "row": change.row,
        "from": change.from,
        "to": change.to,
        "kind": change.whom.kind(),
        "of": change.whom.name(),
        "figure": change.published.figure().key(),
        "percent": change.percent.as_ref().map(|percent| percent.mean),
        "percent_sd": change.percent.as_ref().map(|percent| percent.sd),
        "published": published_change(&change.published),
        "error_points": change.distance(),
    });
    if let Some(over) = change.published.over {
        value["rows"] = json!(change.published.rows);
        value["over"] = over.word().into();
    }
    if let Some(row) = &change.largest_in {
        value["largest_in"] = row.as_str().into();
    }
    put_runs(&mut value, "percent", change.percent.as_ref());
    value
}

fn row(row: &RowOutcome) -> Value {
    let groups = row.groups.iter().map(|one| group(one, row.duration_s));
    let mut value = json!({
        "arm": row.arm,
        "scheduler": row.scheduler,
        "device": row.device,
        "row": row.row,
        "seeds": row.seeds,
        "duration_s": row.duration_s,
        "total": {
            "ios": row.total_ios.mean,
            "ios_sd": row.total_ios.sd,
            "bytes": row.total_bytes,
            "ios_per_s": part(row.total_ios.mean, row.duration_s),
            "mb_per_s": part(row.total_bytes, row.duration_s) / 1e6,
        },
        "work": row.work,
        "groups": groups.collect::<Vec<_>>(),
        "tasks": row.tasks.iter().map(task).collect::<Vec<_>>(),
        "published": row.published_total.map(|total| json!({ "total_ios": total })),
        "journal_hash": format!("{:016x}", row.journal_hash),
        "requests": {
            "submitted": row.submitted,
            "completed": row.completed,
            "in_flight": row.in_flight,
        },
        "errors": row.errors,
    });
    put_runs(&mut value["total"], "ios", Some(&row.total_ios));
    value["disks"] = row.disks.json();
    if let Some(together) = row.disks.json_together() {
        value["disks_together"] = together;
    }
    if row.dirty_bytes > 0.0 {
        value["dirty_bytes"] = json!(row.dirty_bytes);
    }
    if let Some(memory) = &row.memory {
        value["memory"] = memory.json();
    }
    if let Some(payers) = &row.payers {
        value["write_back"] = payers.json();
    }
    if !row.throughput.is_empty() {
        value["throughput"] = row.throughput.iter().map(throughput).collect();
    }
    if !row.figures.is_empty() {
        value["figures"] = row.figures.iter().map(figure).collect();
    }
    if !row.events.is_empty() {
        let event = |event: &EventRun| {
            let EventRun { at, words, refused } = event;
            json!({ "at_s": in_seconds(*at), "what": words, "refused": refused })
        };
        value["events"] = row.events.iter().map(event).collect();
    }
    if row.end == RunEnd::GivenUp {
        value["given_up"] = true.into();
    }
    if row.partial {
        value["partial"] = true.into();
    }
    value
}

fn ms(span: Span) -> f64 {
    span.as_ns() as f64 / 1e6
}

/// Quantiles of latencies; null if there were no I/Os.
pub(crate) fn latency_ms(latency: &Histogram) -> Value {
    let known = |span: Span| (latency.count() > 0).then(|| ms(span));
    json!({
        "p50": known(latency.quantile(500)),
        "p99": known(latency.quantile(990)),
        "p99_9": known(latency.quantile(999)),
        "max": known(latency.max()),
    })
}

/// How many took at most so many ms, and more than the number before says; null if there were none.
pub(crate) fn histogram(latency: &Histogram) -> Option<Value> {
    let counted = latency.buckets().filter(|(_, count)| *count > 0);
    let (to_ms, count): (Vec<f64>, Vec<u64>) = counted.map(|(to, count)| (ms(to), count)).unzip();
    (!count.is_empty()).then(|| json!({ "to_ms": to_ms, "count": count }))
}

/// Adds the weight or the priority of a group.
pub(crate) fn put_claim(value: &mut Value, claim: Option<Share>) {
    match claim {
        Some(Share::Weight(weight)) => value["weight"] = weight.get().into(),
        Some(Share::Priority(priority)) => value["priority"] = priority.into(),
        None => {}
    }
}

/// The amount of reads, writes or trims; `None` if there were no I/Os.
fn amount(amount: &Amount) -> Option<Value> {
    let Amount { ios, bytes, latency } = amount;
    (*ios > 0.0).then(|| json!({ "ios": ios, "bytes": bytes, "latency_ms": latency_ms(latency) }))
}

/// The amount of flushes; `None` if there were none.
pub(crate) fn flushes(flushes: &Amount) -> Option<Value> {
    let Amount { ios: count, latency, .. } = flushes;
    (*count > 0.0).then(|| json!({ "count": count, "latency_ms": latency_ms(latency) }))
}

fn group(group: &GroupOutcome, duration_s: f64) -> Value {
    let mut value = json!({
        "name": group.name,
        "ios": group.ios.mean,
        "share": group.share.mean,
        "share_sd": group.share.sd,
        "bytes": group.bytes,
        "mb_per_s": part(group.bytes, duration_s) / 1e6,
        "ios_per_s": part(group.ios.mean, duration_s),
        "asked": group.disk.asked,
        "got": group.disk.got,
        "got_of_asked": group.disk.got_of_asked(),
        "time_share": group.disk.time_share,
        "read_share": group.read_share,
        "latency_ms": latency_ms(&group.latency),
        "latency_histogram": histogram(&group.latency),
        "flush_histogram": histogram(&group.directions.flush.latency),
        "read": amount(&group.directions.read),
        "write": amount(&group.directions.write),
        "flush": flushes(&group.directions.flush),
        "trim": amount(&group.directions.trim),
        "wait_max_ms": group.wait_max_ms,
        "slot_waits": group.slot_waits,
        "published": group.published.as_ref().filter(|it| it.is_published()).map(|published| json!({
            "ios": published.ios,
            "share": published.share,
            "read_share": published.read_share,
        })),
    });
    if let Some(share) = group.published.as_ref().and_then(|published| published.expected) {
        value["estimate"] = json!({ "share": share });
    }
    put_claim(&mut value, group.claim);
    put_memory(&mut value, group.memory);
    put_runs(&mut value, "ios", Some(&group.ios));
    put_runs(&mut value, "share", Some(&group.share));
    value
}

fn figure(figure: &FigureOutcome) -> Value {
    let mut value = json!({
        "kind": figure.whom.kind(),
        "of": figure.whom.name(),
        "figure": figure.quantity.key(),
        "ours": figure.ours.as_ref().map(|ours| ours.mean),
        "ours_sd": figure.ours.as_ref().map(|ours| ours.sd),
        "published": figure.published,
        (unit(figure.quantity)): figure.error(),
    });
    put_runs(&mut value, "ours", figure.ours.as_ref());
    value
}

/// The key for a distance from a published figure.
fn unit(quantity: Quantity) -> String {
    if quantity.is_percent() { "error_points" } else { "error_percent" }.to_owned()
}

fn task(task: &TaskOutcome) -> Value {
    let published = task.published_mb_per_s.is_some() || task.published_seconds.is_some();
    let mut value = json!({
        "name": task.name,
        "ios": task.ios,
        "seconds": task.seconds.mean,
        "seconds_sd": task.seconds.sd,
        "mb_per_s": task.mb_per_s.mean,
        "latency_ms": latency_ms(&task.latency),
        "read": amount(&task.directions.read),
        "write": amount(&task.directions.write),
        "flush": flushes(&task.directions.flush),
        "trim": amount(&task.directions.trim),
        "finished": task.finished,
        "published": published.then(|| json!({
            "seconds": task.published_seconds,
            "mb_per_s": task.published_mb_per_s,
        })),
    });
    put_memory(&mut value, task.memory);
    put_runs(&mut value, "seconds", Some(&task.seconds));
    put_runs(&mut value, "mb_per_s", Some(&task.mb_per_s));
    value
}

/// A test of iozone, under the names of the lines of its report.
fn throughput(test: &Throughput) -> Value {
    let mut value = json!({
        "test": test.name,
        "processes": test.processes,
        "children_kb_per_s": test.children_kb_per_s.mean,
        "parent_kb_per_s": test.parent_kb_per_s,
        "min_kb_per_s": test.min_kb_per_s,
        "max_kb_per_s": test.max_kb_per_s,
        "avg_kb_per_s": test.avg_kb_per_s,
        "min_xfer_kb": test.min_xfer_kb,
    });
    put_runs(&mut value, "children_kb_per_s", Some(&test.children_kb_per_s));
    if !test.each.is_empty() {
        let child = |child: &Child| json!({"xfer_kb": child.xfer_kb, "kb_per_s": child.kb_per_s});
        value["children"] = test.each.iter().map(child).collect();
    }
    value
}

/// The score as a JSON object.
pub(crate) fn score(score: &Score) -> Value {
    // Without a published share there is no distance.
    let points = |points: f64| (score.cells > 0).then_some(points);
    let mut value = json!({
        "share_error_points_mean": points(score.share_error_points_mean),
        "share_error_points_max": points(score.share_error_points_max),
        "total_error_mean": score.total_error_mean,
        "cells": score.cells,
    });
    if let Some(estimates) = score.estimates {
        value["estimate_error_points_mean"] = estimates.error_mean.into();
        value["estimate_error_points_max"] = estimates.error_max.into();
        value["estimate_cells"] = estimates.cells.into();
    }
    if let Some(changes) = score.changes {
        value["change_error_points_mean"] = changes.error_points_mean.into();
        value["change_error_points_max"] = changes.error_points_max.into();
        value["changes"] = changes.changes.into();
    }
    if !score.figures.is_empty() {
        let figure = |score: &FigureScore| {
            let unit = unit(score.quantity);
            json!({
                "figure": score.quantity.key(),
                (format!("{unit}_mean")): score.error_mean,
                (format!("{unit}_max")): score.error_max,
                "cells": score.cells,
            })
        };
        value["figures"] = score.figures.iter().map(figure).collect();
    }
    if let Some(rates) = score.rates {
        value["rate_error_mean"] = rates.error_mean.into();
        value["rate_error_max"] = rates.error_max.into();
        value["orders_right"] = rates.orders_right.into();
        value["orders"] = rates.orders.into();
        value["tasks"] = rates.tasks.into();
    }
    value
}
