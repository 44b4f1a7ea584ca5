//! A comparison as JSON.

use super::{Cell, CellGroup, Comparison};
use crate::outcome::latency_ms;
use serde_json::{Value, json};

/// The comparison as one object; docs/results.md says what the names mean.
#[must_use]
pub fn to_json(comparison: &Comparison) -> Value {
    json!({
        "schema": 1,
        "experiment": comparison.experiment,
        "title": comparison.title,
        "cells": comparison.cells.iter().map(cell).collect::<Vec<_>>(),
    })
}

fn cell(cell: &Cell) -> Value {
    let (mean, max) = cell.error_points();
    let mut value = json!({
        "device": cell.device,
        "arm": cell.arm,
        "scheduler": cell.scheduler,
        "row": cell.row,
        "seeds": cell.seeds,
        "duration_s": cell.duration_s,
        "ios_per_s": cell.ios_per_s,
        "mb_per_s": cell.mb_per_s,
        "of_noop": cell.of_noop,
        "error_points": { "mean": mean, "max": max },
        "groups": cell.groups.iter().map(group).collect::<Vec<_>>(),
    });
    if cell.partial {
        value["partial"] = true.into();
    }
    value
}

fn group(group: &CellGroup) -> Value {
    json!({
        "name": group.outcome.name,
        "asked": group.asked,
        "got": group.got,
        "ios": group.outcome.ios,
        "latency_ms": latency_ms(&group.outcome.latency),
        "wait_max_ms": group.outcome.wait_max_ms,
    })
}
