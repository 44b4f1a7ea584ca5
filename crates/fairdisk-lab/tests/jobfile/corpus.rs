//! Our own job files: what valid ones resolve to, and the errors of invalid ones.

use std::path::{Path, PathBuf};

use crate::fio;
use crate::golden;

const VARS: &[(&str, &str)] = &[("SIZE", "64m"), ("KEY", "iodepth")];

fn files(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(fio::corpus().join(folder)).expect("the corpus is there");
    let mut list: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    list.retain(|path| path.extension().is_some_and(|end| end == "fio"));
    list.sort();
    list
}

/// A description of a file without paths of this machine: messages name files as the user named
/// them.
fn described(path: &Path) -> String {
    let text = std::fs::read_to_string(path).expect("readable");
    let folder = format!("{}/", path.parent().expect("in a folder").display());
    let described = match fio::ours(&path.display().to_string(), &text, VARS) {
        Ok(resolved) => format!("{resolved}\n# notes\n{}", resolved.notes),
        Err(problems) => format!("{problems}\n"),
    };
    described.replace(&folder, "")
}

fn check(folder: &str) {
    let failures: Vec<String> = files(folder)
        .iter()
        .filter_map(|path| {
            golden::compare(&path.with_extension("expected"), &described(path)).err()
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn good_files_resolve_as_expected() {
    check("good");
}

#[test]
fn bad_files_are_explained() {
    check("bad");
}

#[test]
fn fio_agrees_about_every_file() {
    if !fio::is_installed() {
        return;
    }
    let mut failures = vec![];
    for path in files("good").into_iter().chain(files("bad")) {
        let text = std::fs::read_to_string(&path).expect("readable");
        if text.starts_with("; fairdisk only") {
            continue; // It has keys that fio does not have.
        }
        let ours = fio::ours(&path.display().to_string(), &text, VARS);
        if let Some(reason) = fio::disagreement(fio::accepts(&path, VARS), &ours) {
            failures.push(format!("{}: {reason}", path.display()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn what_is_shown_is_a_job_file_with_the_same_jobs() {
    let scratch = fio::Scratch::new("shown");
    for path in files("good") {
        let text = std::fs::read_to_string(&path).expect("readable");
        let first =
            fio::ours(&path.display().to_string(), &text, VARS).expect("good files resolve");
        let shown = first.to_string();
        let again = fio::ours("shown.fio", &shown, &[]).expect("what is shown can be read");
        assert_eq!(first.jobs, again.jobs, "{}\n{shown}", path.display());
        if !text.starts_with("; fairdisk only") && fio::is_installed() {
            assert!(fio::accepts(&scratch.write(&shown), &[]), "fio rejects:\n{shown}");
        }
    }
}

#[test]
fn jobs_are_json() {
    let path = fio::corpus().join("good/groups.fio");
    let text = std::fs::read_to_string(&path).expect("readable");
    let resolved = fio::ours("groups.fio", &text, VARS).expect("resolves");
    let json = serde_json::to_value(&resolved).expect("serializes");
    assert_eq!(json["jobs"][0]["group"]["path"], "/tenants/gold");
    assert_eq!(json["jobs"][0]["group"]["share"]["weight"], 400);
}
