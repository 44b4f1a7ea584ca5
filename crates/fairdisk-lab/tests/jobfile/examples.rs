//! fio's own examples, as installed by Debian: every one is run, or refused for a stated reason.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use fairdisk_core::Span;
use fairdisk_lab::jobfile::{Class, ErrorKind, Problems, Resolved};
use fairdisk_lab::outcome::{Outcome, Shell};
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::{Silent, run_plan};

use crate::fio;
use crate::golden;

const FOLDER: &str = "/usr/share/doc/fio/examples";

fn examples() -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(FOLDER) else {
        fio::skip(&format!("{FOLDER} is not there (Debian: apt install fio-examples)"));
        return vec![];
    };
    let mut list: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    list.retain(|path| path.extension().is_some_and(|end| end == "fio"));
    list.sort();
    list
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).expect("examples are text")
}

fn read(path: &Path) -> Result<Resolved, Problems> {
    fio::ours(&path.display().to_string(), &text(path), &[])
}

/// The obstacle, as one word per problem.
fn reason(kind: &ErrorKind) -> String {
    match kind {
        ErrorKind::UnsupportedKey { key, .. } => key.clone(),
        ErrorKind::KeyOfOtherEngine { key, .. } => (*key).to_owned(),
        ErrorKind::UnsupportedValue { key, value, .. } => format!("{key}={value}"),
        ErrorKind::UnknownKey { key, .. } => format!("{key}?"),
        ErrorKind::BadValue { key, value, .. } => format!("{key}={value}!"),
        ErrorKind::UnsetVariable { variable, .. } => format!("${{{variable}}} is not set"),
        ErrorKind::Conflict { text } => text.clone(),
        other => other.to_string(),
    }
}

fn verdict(outcome: &Result<Resolved, Problems>) -> (&'static str, String) {
    match outcome {
        Ok(resolved) => ("runs", format!("{} jobs", resolved.jobs.len())),
        Err(problems) => {
            let word = match problems.class() {
                Class::Wrong => "wrong",
                Class::Unsupported => "unsupported",
                Class::Inconsistent => "inconsistent",
            };
            let reasons: BTreeSet<String> =
                problems.errors().iter().map(|error| reason(&error.kind)).collect();
            (word, reasons.into_iter().collect::<Vec<_>>().join(", "))
        }
    }
}

/// The table of all examples is committed, so a change of what is supported changes it.
#[test]
fn the_table_of_examples_is_up_to_date() {
    let examples = examples();
    if examples.is_empty() {
        return;
    }
    let mut table = String::new();
    let mut counts: Vec<(&str, u32)> = vec![];
    for path in &examples {
        let (word, text) = verdict(&read(path));
        match counts.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => counts.push((word, 1)),
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        writeln!(table, "{name:32} {word:12} {text}").expect("a string takes text");
    }
    counts.sort_unstable();
    for (word, count) in counts {
        writeln!(table, "{count:4} {word}").expect("a string takes text");
    }
    if let Err(difference) = golden::compare(&fio::corpus().join("examples.expected"), &table) {
        panic!("{difference}");
    }
}

#[test]
fn fio_agrees_about_every_example() {
    if !fio::is_installed() {
        return;
    }
    let scratch = fio::Scratch::new("examples");
    let disagreements: Vec<String> = examples()
        .iter()
        .filter_map(|path| {
            let accepts = fio::accepts_text(&scratch, &text(path));
            let reason = fio::disagreement(accepts, &read(path))?;
            Some(format!("{}: {reason}", path.display()))
        })
        .collect();
    assert!(disagreements.is_empty(), "{}", disagreements.join("\n"));
}

#[test]
fn what_is_supported_runs_in_the_lab() {
    let mut run = 0;
    for path in examples() {
        let Ok(resolved) = read(&path) else { continue };
        let name = path.display().to_string();
        let options = Options {
            seeds: Some(1),
            duration: Some(Span::from_s(2)),
            device: Some("hdd-ncq".to_owned()),
            ..Options::default()
        };
        let plan = Plan::job_file(&name, &resolved, &options).expect("there is room");
        let runs = run_plan(&plan, &Silent, &AtomicBool::new(false)).expect("it fits");
        let outcome = Outcome::new(&plan, Shell::Lab, &runs);
        let row = &outcome.rows[0];
        assert_eq!(row.submitted, row.completed + row.in_flight, "{name}");
        assert!(row.total_ios.mean > 0.0, "{name} does nothing");
        run += 1;
    }
    assert!(run == 0 || run > 10, "{run} of the examples run");
}
