//! The columns of a table of records: their names, with units, and their values.

use crate::record::{Figures, Latency, Record};
use crate::run::Row;

/// The value of a column in a row; `None` and empty lists if the row has none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A text.
    Text(Option<&'a str>),
    /// A whole number.
    Whole(Option<u64>),
    /// A number.
    Number(Option<f64>),
    /// Numbers.
    Numbers(&'a [f64]),
    /// Whole numbers.
    Wholes(&'a [u64]),
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name, with the unit at its end.
    pub name: &'static str,
    /// Its value in a record.
    pub value: fn(&Record) -> Value<'_>,
}

/// Columns of figures, each with the expression of its value.
macro_rules! figures {
    ($($name:ident $kind:ident = |$figures:ident| $value:expr;)*) => {
        [$(Column {
            name: stringify!($name),
            value: |record| {
                let known = record.figures.as_ref();
                Value::$kind(known.and_then(|$figures: &Figures| $value))
            },
        },)*]
    };
}

/// Columns of a latency; names begin with what it is of.
macro_rules! latencies {
    ($($of:ident: $count:literal $p50:literal $p90:literal $p99:literal $p999:literal $max:literal
       $to:literal $counts:literal;)*) => {
        [$(
            Column { name: $count, value: |it| Value::Whole(count(it, |it| &it.$of)) },
            Column { name: $p50, value: |it| Value::Number(ms(it, |it| &it.$of, 0)) },
            Column { name: $p90, value: |it| Value::Number(ms(it, |it| &it.$of, 1)) },
            Column { name: $p99, value: |it| Value::Number(ms(it, |it| &it.$of, 2)) },
            Column { name: $p999, value: |it| Value::Number(ms(it, |it| &it.$of, 3)) },
            Column { name: $max, value: |it| Value::Number(ms(it, |it| &it.$of, 4)) },
            Column {
                name: $to,
                value: |it| Value::Numbers(latency(it, |it| &it.$of).map_or(&[], |it| &it.to_ms)),
            },
            Column {
                name: $counts,
                value: |it| Value::Wholes(latency(it, |it| &it.$of).map_or(&[], |it| &it.counts)),
            },
        )*]
    };
}

fn latency(record: &Record, of: fn(&Figures) -> &Latency) -> Option<&Latency> {
    record.figures.as_ref().map(of)
}

fn count(record: &Record, of: fn(&Figures) -> &Latency) -> Option<u64> {
    latency(record, of).map(|latency| latency.count)
}

fn ms(record: &Record, of: fn(&Figures) -> &Latency, at: usize) -> Option<f64> {
    latency(record, of)?.ms.map(|ms| ms[at])
}

fn rate(amount: f64, figures: &Figures) -> Option<f64> {
    (figures.duration_s > 0.0).then(|| amount / figures.duration_s)
}

/// What identifies a row.
const HEAD: [Column; 6] = [
    Column { name: "experiment", value: |it| Value::Text(Some(&it.experiment)) },
    Column { name: "arm", value: |it| Value::Text(Some(&it.arm)) },
    Column { name: "scheduler", value: |it| Value::Text(Some(&it.scheduler)) },
    Column { name: "device", value: |it| Value::Text(Some(&it.device)) },
    Column { name: "row", value: |it| Value::Text(Some(&it.row)) },
    Column { name: "seed", value: |it| Value::Whole(Some(it.seed.into())) },
];

const FIGURES: [Column; 17] = figures! {
    group Text = |it| Some(it.group.as_str());
    weight Whole = |it| it.weight.map(u64::from);
    priority Whole = |it| it.priority.map(u64::from);
    end Text = |it| Some(it.end.as_str());
    duration_s Number = |it| Some(it.duration_s);
    ios Whole = |it| Some(it.ios);
    ios_per_s Number = |it| rate(it.ios as f64, it);
    share_percent Number = |it| it.share_percent;
    bytes Whole = |it| Some(it.bytes);
    mb_per_s Number = |it| rate(it.bytes as f64 / 1e6, it);
    work_percent Number = |it| Some(it.work_percent);
    disk_time_s Number = |it| Some(it.disk_time_s);
    wait_max_ms Number = |it| Some(it.wait_max_ms);
    slot_waits Whole = |it| Some(it.slot_waits);
    errors Whole = |it| Some(it.errors);
    journal_hash Text = |it| Some(it.journal_hash.as_str());
    latency_mean_ms Number = |it| it.latency.mean_ms;
};

const LATENCIES: [Column; 32] = latencies! {
    latency: "latency_count" "latency_p50_ms" "latency_p90_ms" "latency_p99_ms" "latency_p99_9_ms"
        "latency_max_ms" "latency_histogram_to_ms" "latency_histogram_count";
    read: "read_count" "read_p50_ms" "read_p90_ms" "read_p99_ms" "read_p99_9_ms" "read_max_ms"
        "read_histogram_to_ms" "read_histogram_count";
    write: "write_count" "write_p50_ms" "write_p90_ms" "write_p99_ms" "write_p99_9_ms"
        "write_max_ms" "write_histogram_to_ms" "write_histogram_count";
    flush: "flush_count" "flush_p50_ms" "flush_p90_ms" "flush_p99_ms" "flush_p99_9_ms"
        "flush_max_ms" "flush_histogram_to_ms" "flush_histogram_count";
};

const ERROR: Column = Column { name: "error", value: |it| Value::Text(it.error.as_deref()) };

/// The columns of records, in order.
pub fn columns() -> impl Iterator<Item = Column> {
    HEAD.into_iter().chain(FIGURES).chain(LATENCIES).chain([ERROR])
}

/// The keys that points of these rows change, in order; each is a column of its own, before the
/// others.
#[must_use]
pub fn changed(rows: &[Row]) -> Vec<&str> {
    let mut keys: Vec<&str> = Vec::new();
    for setting in rows.iter().flat_map(|row| &row.point) {
        // Rows of one point follow each other, and keys are few.
        if !keys.contains(&setting.key.as_str()) {
            keys.push(&setting.key);
        }
    }
    keys.sort_unstable();
    keys
}

/// What a row's point has changed this key to.
#[must_use]
pub fn value_of<'a>(row: &'a Row, key: &str) -> Option<&'a str> {
    row.point.iter().find(|setting| setting.key == key).map(|setting| setting.value.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_column_has_a_name_of_its_own() {
        let names: BTreeSet<&str> = columns().map(|column| column.name).collect();
        assert_eq!(names.len(), columns().count());
    }

    #[test]
    fn a_row_without_figures_has_its_reason() {
        let error = Some("refused".to_owned());
        let record = Record { experiment: "x".to_owned(), error, ..Record::default() };
        for column in columns() {
            match (column.value)(&record) {
                Value::Text(Some(text)) => {
                    assert!(["x", "refused", ""].contains(&text), "{}", column.name);
                }
                Value::Whole(number) => assert_eq!(number.unwrap_or(0), 0, "{}", column.name),
                Value::Number(number) => assert_eq!(number, None, "{}", column.name),
                Value::Text(None) | Value::Numbers(&[]) | Value::Wholes(&[]) => {}
                other => panic!("{}: {other:?}", column.name),
            }
        }
    }
}
