//! Tables of comparisons, advice and blame: their JSON, laid out with a unit in each name.

use arrow_array::builder::{Float64Builder, ListBuilder, StringViewBuilder};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch};
use arrow_schema::{ArrowError, Field, Schema};
use fairdisk_core::QosKey;
use serde_json::Value;
use std::sync::Arc;

/// A column: its name, where its value is in the objects of a row, and its kind.
type Column<'a> = (&'a str, &'a str, Kind);

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Flag,
    /// A number, multiplied with this.
    Number(f64),
    Numbers,
}
use Kind::{Flag, Number, Numbers, Text};

/// What is said of a group beside other groups. `/0` is the cell, `/1` the group in it.
const COMPARED: [Column<'static>; 28] = [
    ("device", "/0/device", Text),
    ("row", "/0/row", Text),
    ("arm", "/0/arm", Text),
    ("scheduler", "/0/scheduler", Text),
    ("seeds", "/0/seeds", Number(1.0)),
    ("duration_s", "/0/duration_s", Number(1.0)),
    ("group", "/1/name", Text),
    ("weight", "/1/weight", Number(1.0)),
    ("priority", "/1/priority", Number(1.0)),
    ("asked_percent", "/1/asked", Number(100.0)),
    ("got_percent", "/1/got", Number(100.0)),
    ("ios", "/1/ios", Number(1.0)),
    ("ios_per_s", "/1/ios_per_s", Number(1.0)),
    ("mb_per_s", "/1/mb_per_s", Number(1.0)),
    ("latency_p50_ms", "/1/latency_ms/p50", Number(1.0)),
    ("latency_p99_ms", "/1/latency_ms/p99", Number(1.0)),
    ("latency_p99_9_ms", "/1/latency_ms/p99_9", Number(1.0)),
    ("latency_max_ms", "/1/latency_ms/max", Number(1.0)),
    ("latency_histogram_to_ms", "/1/latency_histogram/to_ms", Numbers),
    ("latency_histogram_count", "/1/latency_histogram/count", Numbers),
    ("flush_histogram_to_ms", "/1/flush_histogram/to_ms", Numbers),
    ("flush_histogram_count", "/1/flush_histogram/count", Numbers),
    ("wait_max_ms", "/1/wait_max_ms", Number(1.0)),
    ("all_ios_per_s", "/0/ios_per_s", Number(1.0)),
    ("all_mb_per_s", "/0/mb_per_s", Number(1.0)),
    ("of_noop_percent", "/0/of_noop", Number(100.0)),
    ("all_work_percent", "/0/work", Number(100.0)),
    ("error", "/0/reason", Text),
];

/// What advice says of a try, beside the figures of its groups. `/2` is the try. What it gives each
/// group, `/3`, comes after it: that of the load is not said, and has no column.
const TRIED: [Column<'static>; 2] =
    [("wishes_met", "/2/met", Number(1.0)), ("is_proposed", "/2/is_proposed", Flag)];
const OF_LOAD: [&str; 2] = ["weight", "priority"];

/// What is said of a change. `/0` is the change, `/1` its effect, `/2` the report.
const BLAMED: [Column<'static>; 12] = [
    ("change", "/0/name", Text),
    ("good", "/0/good", Text),
    ("bad", "/0/bad", Text),
    ("commit", "/0/commit", Text),
    ("author", "/0/author", Text),
    ("summary", "/0/summary", Text),
    ("metric", "/2/metric", Text),
    ("part", "/1/part", Number(1.0)),
    ("part_sd", "/1/part_sd", Number(1.0)),
    ("alone", "/1/alone", Number(1.0)),
    ("undone", "/1/undone", Number(1.0)),
    ("is_within_noise", "/1/within_noise", Flag),
];

/// The objects of the list `key`.
fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}

/// The cells of a comparison with each of their groups, then what was refused.
fn compared(comparison: &Value) -> Vec<Vec<&Value>> {
    let cells = list(comparison, "cells");
    let groups = cells.flat_map(|cell| list(cell, "groups").map(move |group| vec![cell, group]));
    groups.chain(list(comparison, "refused").map(|refused| vec![refused])).collect()
}

/// A comparison: a row for each device, row, arm and group, and for what was refused.
pub(crate) fn comparison(comparison: &Value) -> Result<RecordBatch, ArrowError> {
    batch(&COMPARED, &compared(comparison))
}

/// Advice: a row for each try and group, with the figures of `tried`, the tries as a comparison.
pub(crate) fn advice(advice: &Value, tried: &Value) -> Result<RecordBatch, ArrowError> {
    let mut tries: Vec<Value> = list(advice, "tried").cloned().collect();
    for one in &mut tries {
        one["is_proposed"] = (one["name"] == advice["proposed"]["name"]).into();
    }
    let mut rows = compared(tried);
    for row in &mut rows {
        row.resize(2, &Value::Null);
        if let Some(found) = tries.iter().find(|one| one["name"] == row[0]["arm"]) {
            let group = row[1]["name"].as_str().unwrap_or_default();
            row.extend([found, &found["groups"][group]]);
        }
    }
    let given: Vec<(&str, String)> = (["weight"].into_iter())
        .chain(QosKey::ALL.map(QosKey::name))
        .filter(|key| rows.iter().any(|row| row.get(3).is_some_and(|it| it.get(key).is_some())))
        .map(|key| (key, format!("/3/{key}")))
        .collect();
    let given = given.iter().map(|(key, path)| (*key, path.as_str(), Number(1.0)));
    let figures = COMPARED.into_iter().filter(|(name, ..)| !OF_LOAD.contains(name));
    batch(&figures.chain(TRIED).chain(given).collect::<Vec<_>>(), &rows)
}

/// Blame: a row for each change between both ends, with its effect if it is a suspect.
pub(crate) fn blame(report: &Value) -> Result<RecordBatch, ArrowError> {
    let effect = |name: &Value| list(report, "effects").find(|effect| effect["change"] == *name);
    let rows = list(report, "changes")
        .map(|change| vec![change, effect(&change["name"]).unwrap_or(&Value::Null), report]);
    batch(&BLAMED, &rows.collect::<Vec<_>>())
}

/// A table without rows and columns.
pub(crate) fn nothing(_: &Value) -> Result<RecordBatch, ArrowError> {
    Ok(RecordBatch::new_empty(Arc::new(Schema::empty())))
}

fn batch(columns: &[Column<'_>], rows: &[Vec<&Value>]) -> Result<RecordBatch, ArrowError> {
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns
        .iter()
        .map(|&(name, path, kind)| {
            let values = array(rows.iter().map(|row| at(row, path)), kind);
            (Field::new(name, values.data_type().clone(), true), values)
        })
        .unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
}

/// The value at `path`, which begins with the number of an object.
fn at<'a>(row: &[&'a Value], path: &str) -> Option<&'a Value> {
    let (object, path) = path.get(1..)?.split_at_checked(1)?;
    row.get(object.parse::<usize>().ok()?)?.pointer(path)
}

fn array<'a>(values: impl Iterator<Item = Option<&'a Value>>, kind: Kind) -> ArrayRef {
    match kind {
        Text => {
            let mut texts = StringViewBuilder::new().with_deduplicate_strings();
            values.for_each(|value| texts.append_option(value.and_then(Value::as_str)));
            Arc::new(texts.finish())
        }
        Flag => Arc::new(values.map(|value| value?.as_bool()).collect::<BooleanArray>()),
        Number(factor) => {
            let number = |value: Option<&Value>| Some(value?.as_f64()? * factor);
            Arc::new(values.map(number).collect::<Float64Array>())
        }
        Numbers => {
            let mut lists = ListBuilder::new(Float64Builder::new());
            for value in values {
                let numbers = value.and_then(Value::as_array);
                lists.values().extend(numbers.into_iter().flatten().map(Value::as_f64));
                lists.append(true);
            }
            Arc::new(lists.finish())
        }
    }
}
