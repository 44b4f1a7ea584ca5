//! Results as records: one for each group of each row, flat, for tables of others.

use serde_json::{Map, Value};

/// A record: names and values. What is nested in results has both names, joined by `_`.
pub(crate) type Record = Map<String, Value>;

/// The records of an object of results. Where it has neither rows nor cells with groups, it is one
/// record.
pub(crate) fn records(results: &Value) -> Vec<Record> {
    let rows = ["rows", "cells"].iter().find_map(|name| results[*name].as_array());
    let mut records = Vec::new();
    for row in rows.into_iter().flatten() {
        let mut about = Record::new();
        for (name, value) in scalars(results).chain(scalars(row)) {
            let of_all = ["ios_per_s", "mb_per_s", "work", "of_noop"].contains(&name.as_str());
            let name = if of_all { format!("all_{name}") } else { name.clone() };
            about.insert(name, value.clone());
        }
        flatten(&mut about, "all", &row["total"]);
        for group in row["groups"].as_array().into_iter().flatten() {
            let mut record = about.clone();
            record.insert("group".to_owned(), group["name"].clone());
            flatten(&mut record, "", group);
            record.remove("name");
            records.push(record);
        }
    }
    if records.is_empty() {
        let mut record = Record::new();
        flatten(&mut record, "", results);
        records.push(record);
    }
    records
}

/// The members of an object that are neither lists nor objects.
fn scalars(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let members = value.as_object().into_iter().flatten();
    members.filter(|(_, value)| !value.is_object() && !value.is_array())
}

/// Adds the members of an object, with `before` before their names.
fn flatten(record: &mut Record, before: &str, value: &Value) {
    for (name, value) in value.as_object().into_iter().flatten() {
        let name = if before.is_empty() { name.clone() } else { format!("{before}_{name}") };
        match value {
            // A histogram is no cell of a table.
            _ if name.ends_with("_histogram") => {}
            Value::Object(_) => flatten(record, &name, value),
            _ => _ = record.insert(name, value.clone()),
        }
    }
}

/// The records as JSON, an object in each line.
pub(crate) fn to_json_lines(records: &[Record]) -> String {
    records.iter().map(|record| format!("{}\n", Value::Object(record.clone()))).collect()
}

/// The records as CSV by RFC 4180, with a line of names first. What a record lacks is empty; a list
/// has spaces between its values.
pub(crate) fn to_csv(records: &[Record]) -> String {
    let mut names: Vec<&String> = Vec::new();
    for name in records.iter().flat_map(Record::keys) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let head = names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",");
    let line = |record: &Record| {
        let cells = names.iter().map(|name| record.get(*name).map_or_else(String::new, cell));
        cells.map(|cell| quoted(&cell)).collect::<Vec<_>>().join(",")
    };
    [head].into_iter().chain(records.iter().map(line)).map(|line| format!("{line}\r\n")).collect()
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(cell).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_group_of_each_row_is_a_record() {
        let results = json!({
            "schema": 1, "experiment": "a, b", "caveats": ["x"],
            "rows": [{
                "arm": "fair", "work": 0.5, "total": { "ios": 3.0 },
                "groups": [
                    { "name": "db", "work": 1, "latency_ms": { "p50": 1.5, "max": null } },
                    { "name": "say \"hi\"", "ios_each": [1, 2] },
                ],
            }],
        });
        let records = records(&results);
        assert_eq!(records.len(), 2);
        assert_eq!(records[0]["all_work"], 0.5);
        assert_eq!((&records[0]["work"], &records[0]["latency_ms_p50"]), (&json!(1), &json!(1.5)));
        let csv = to_csv(&records);
        let lines: Vec<&str> = csv.split("\r\n").collect();
        assert_eq!(lines.len(), 4, "a head, two lines and nothing: {csv}");
        assert!(lines[1].contains("\"a, b\"") && lines[2].contains("\"say \"\"hi\"\"\""), "{csv}");
        assert!(lines[2].ends_with(",1 2"), "{csv}");
        let json_lines = to_json_lines(&records);
        let first: Value = serde_json::from_str(json_lines.lines().next().unwrap()).unwrap();
        assert_eq!(first["group"], "db");
        assert!(first["latency_ms_max"].is_null());
    }
}
