//! Tests of manifests and catalogue files: every dependency has its reason in a comment, and the
//! name of a catalogue file is the id in it.

use fairdisk_tidy::files::{demand_none, ending_in};
use std::collections::BTreeSet;
use std::path::Path;
use toml::Table;

#[test]
fn every_dependency_has_a_reason() {
    let mut faults = Vec::new();
    for file in ending_in(&["Cargo.toml"]) {
        let (mut in_dependencies, mut explained) = (false, false);
        for (at, line) in file.text.lines().enumerate() {
            let line = line.trim();
            if line.starts_with('[') {
                in_dependencies = line.trim_end_matches(']').ends_with("dependencies");
                explained = false;
            } else if line.starts_with('#') {
                explained = true;
            } else if line.is_empty() {
                explained = false;
            } else if in_dependencies && !explained && !line.starts_with("fairdisk-") {
                faults.push(format!("{}:{}: no comment above: {line}", file.path, at + 1));
            }
        }
    }
    demand_none(&faults);
}

#[test]
fn catalogue_files_are_named_as_they_call_themselves() {
    let files: Vec<_> = ending_in(&[".toml"])
        .into_iter()
        .filter(|file| file.path.starts_with("catalog/"))
        .collect();
    assert!(files.len() > 10, "{} files cannot be all", files.len());
    let (mut faults, mut seen) = (Vec::new(), BTreeSet::new());
    for file in &files {
        let path = Path::new(&file.path);
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let table: Table = match file.text.parse() {
            Ok(table) => table,
            Err(error) => {
                faults.push(format!("{}: {error}", file.path));
                continue;
            }
        };
        let text = |key: &str| table.get(key).and_then(|value| value.as_str()).unwrap_or_default();
        if text("id") != name {
            faults.push(format!("{}: its id is `{}`", file.path, text("id")));
        }
        if text("title").is_empty() {
            faults.push(format!("{}: no title", file.path));
        }
        if !seen.insert((path.parent(), name)) {
            faults.push(format!("{}: there is another one of this name", file.path));
        }
    }
    demand_none(&faults);
}
