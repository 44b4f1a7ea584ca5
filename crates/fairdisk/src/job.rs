//! fio job files: read from disk, with the environment's variables and the files they include.

use crate::failure::Failure;
use fairdisk_lab::jobfile::{Context, JobFile, Machine, Resolved};
use std::path::Path;
use std::{env, fs};

/// Whether `spec` names a job file.
pub(crate) fn is_job_file(spec: &str) -> bool {
    Path::new(spec).extension().is_some_and(|ending| ending == "fio")
}

/// The text of the job file at `path`.
///
/// # Errors
/// It cannot be read.
pub(crate) fn read(path: &str) -> Result<String, Failure> {
    let text = fs::read_to_string(path);
    text.map_err(|error| Failure::BadInput(format!("{path}: cannot be read: {error}")))
}

/// The jobs of the file at `path`, every decision taken.
///
/// # Errors
/// It cannot be read, or something in it is wrong or not supported.
pub(crate) fn resolve(path: &str) -> Result<Resolved, Failure> {
    let text = read(path)?;
    let context = Context {
        variable: &|name| env::var(name).ok(),
        read: &|file| fs::read_to_string(file),
        // Not this machine: the same file means the same everywhere.
        machine: Machine::default(),
    };
    JobFile::parse(path, &text, &context)
        .and_then(|file| file.resolve())
        .map_err(|problems| Failure::BadInput(problems.to_string()))
}

/// The jobs as a job file, the notes as comments at its end.
pub(crate) fn to_text(resolved: &Resolved) -> String {
    let notes = resolved.notes.iter().map(|note| format!("# note: {note}\n"));
    let gap = if resolved.notes.is_empty() { "" } else { "\n" };
    format!("{resolved}{gap}{}", notes.collect::<String>())
}
