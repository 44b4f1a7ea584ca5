//! A comparison as JSON.

use super::{Cell, CellGroup, Comparison, Floor, RefusedCell, Target};
use crate::outcome::{flushes, histogram, latency_ms, part, put_claim};
use fairdisk_core::QosKey;
use serde_json::{Value, json};

/// The comparison as a JSON object; docs/results.md defines the names.
#[must_use]
pub fn to_json(comparison: &Comparison) -> Value {
    json!({
        "schema": 1,
        "experiment": comparison.experiment,
        "title": comparison.title,
        "arms": comparison.arms,
        "cells": comparison.cells.iter().map(cell).collect::<Vec<_>>(),
        "refused": comparison.refused.iter().map(refused).collect::<Vec<_>>(),
        "note": comparison.note(),
        "caveats": comparison.caveats().collect::<Vec<_>>(),
    })
}

fn refused(refused: &RefusedCell) -> Value {
    let RefusedCell { device, row, arm, reason } = refused;
    json!({ "device": device, "row": row, "arm": arm, "reason": reason })
}

fn cell(cell: &Cell) -> Value {
    let error = cell.error_points();
    let error = error.map(|(mean, max)| json!({ "mean": mean, "max": max }));
    let mut value = json!({
        "device": cell.device,
        "arm": cell.arm,
        "scheduler": cell.scheduler,
        "row": cell.row,
        "seeds": cell.seeds,
        "duration_s": cell.duration_s,
        "ios_per_s": cell.ios_per_s,
        "ios_per_s_sd": cell.ios_per_s_sd,
        "mb_per_s": cell.mb_per_s,
        "of_noop": cell.of_noop,
        "work": cell.work,
        "error_points": error,
        "groups": cell.reported().map(|one| group(one, cell.duration_s)).collect::<Vec<_>>(),
    });
    if cell.partial {
        value["partial"] = true.into();
    }
    if cell.given_up {
        value["given_up"] = true.into();
    }
    value
}

fn group(group: &CellGroup, duration_s: f64) -> Value {
    let mut value = json!({
        "name": group.outcome.name,
        "asked": group.parts.map(|parts| parts.asked),
        "got": group.parts.map(|parts| parts.got),
        "got_of_asked": group.parts.and_then(|parts| parts.got_of_asked()),
        "ios": group.outcome.ios.mean,
        "latency_ms": latency_ms(&group.outcome.latency),
        "latency_histogram": histogram(&group.outcome.latency),
        "flush_histogram": histogram(&group.outcome.directions.flush.latency),
        "ios_per_s": part(group.outcome.ios.mean, duration_s),
        "mb_per_s": part(group.outcome.bytes, duration_s) / 1e6,
        "flush": flushes(&group.outcome.directions.flush),
        "wait_max_ms": group.outcome.wait_max_ms,
    });
    put_claim(&mut value, group.outcome.claim);
    let promises = &group.promises;
    if let Some(floor) = &promises.floor {
        let Floor { seconds, below, usable } = floor;
        value["floor"] = json!({
            "seconds": seconds, "below": below, "usable": usable, "kept": floor.is_kept(),
        });
    }
    if let Some(ceiling) = &promises.ceiling {
        value["ceiling"] = json!({ "over_ms": ceiling.over_ms, "kept": ceiling.is_kept() });
    }
    for (key, target) in promises.targets() {
        let Target { asked_ms, p99_ms } = target;
        let name = if key == QosKey::FsyncP99 { "fsync_target" } else { "latency_target" };
        value[name] = json!({ "asked_ms": asked_ms, "p99_ms": p99_ms, "met": target.is_met() });
    }
    value
}
