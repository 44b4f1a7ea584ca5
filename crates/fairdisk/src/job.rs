//! Reads fio job files from disk and resolves their environment variables and include files.

use crate::failure::Failure;
use fairdisk_lab::catalog::library::Kind;
use fairdisk_lab::jobfile::{Context, JobFile, Machine, Resolved};
use fairdisk_lab::looks::Looks;
use fairdisk_lab::text_file;
use std::env;
use std::path::Path;

/// Whether `spec` names a job file: its extension is `.fio`; or, since fio requires no extension,
/// it is an existing file that neither ends in `.toml` nor has the name of a built-in experiment.
pub(crate) fn is_job_file(spec: &str) -> bool {
    let path = Path::new(spec);
    let ending = path.extension().unwrap_or_default();
    if ending.eq_ignore_ascii_case("fio") {
        return true;
    }
    !ending.eq_ignore_ascii_case("toml")
        && Kind::Experiment.ids().all(|id| id != spec)
        && path.metadata().is_ok_and(|found| !found.is_dir())
}

/// Reads the text of the job file at `path`.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn read(path: &str) -> Result<String, Failure> {
    let text = text_file::read(Path::new(path));
    text.map_err(|error| Failure::BadInput(format!("{path}: cannot be read: {error}")))
}

/// The jobs of the file at `path`, with all options resolved and defaults filled in.
///
/// # Errors
/// The file cannot be read, or it contains something wrong or unsupported.
pub(crate) fn resolve(path: &str) -> Result<Resolved, Failure> {
    let text = read(path)?;
    if let Some(looks) = Looks::of(&text).filter(|looks| *looks != Looks::JobFile) {
        let message = format!("{path}: {}; expected a fio job file", looks.words());
        return Err(Failure::BadInput(message));
    }
    let context = Context {
        variable: &|name| env::var(name).ok(),
        read: &text_file::read,
        // A default machine, not the one we run on, so that a job file means the same everywhere.
        machine: Machine::default(),
    };
    JobFile::parse(path, &text, &context)
        .and_then(|file| file.resolve())
        .map_err(|problems| Failure::BadInput(problems.to_string()))
}

/// The resolved jobs as the text of a job file, with the notes as comments at its end.
pub(crate) fn to_text(resolved: &Resolved) -> String {
    let notes = resolved.notes.iter().map(|note| format!("# note: {note}\n"));
    let gap = if resolved.notes.is_empty() { "" } else { "\n" };
    format!("{resolved}{gap}{}", notes.collect::<String>())
}
