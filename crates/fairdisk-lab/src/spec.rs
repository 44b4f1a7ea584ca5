//! What a SPEC names: an experiment, a job file, an iozone command or a trace; from its name or its
//! text to a plan, or to what is wrong with it and where.

mod error;

pub use error::SpecError;

use crate::catalog::library::{Document, Kind, demand_experiment, is_path};
use crate::iozone;
use crate::jobfile::{
    Context, JobFile, JobRow, Machine, Place, Problems, Resolved, is_fio_command,
};
use crate::looks::Looks;
use crate::plan::{Options, Plan};
use crate::text_file;
use std::env;
use std::path::Path;
use std::sync::OnceLock;

/// Whether `spec` names an iozone command: its extension is `.iozone`.
pub fn is_iozone(spec: &str) -> bool {
    Path::new(spec).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("iozone"))
}

/// What stands for standard input as a job file.
const STANDARD_INPUT: &str = "-";

/// Whether `spec` names a trace: a file that begins like one and is named neither `.toml` nor
/// `.fio`, or the common name of the files of blktrace.
pub fn is_trace(spec: &str) -> bool {
    let path = Path::new(spec);
    let ending = path.extension().unwrap_or_default();
    let is_text = ["toml", "fio", "iozone"].iter().any(|one| ending.eq_ignore_ascii_case(one));
    !is_text && Kind::Experiment.ids().all(|id| id != spec) && fairdisk_trace::is_trace(path)
}

/// Whether `spec` names a job file or an iozone command: its extension is `.fio` or `.iozone`; or,
/// since fio requires no extension, it is an existing file that neither ends in `.toml` nor has the
/// name of a built-in experiment; or `-`, or a command line of fio.
pub fn is_job_file(spec: &str) -> bool {
    if spec == STANDARD_INPUT || is_fio_command(spec) {
        return true;
    }
    let path = Path::new(spec);
    let ending = path.extension().unwrap_or_default();
    if ending.eq_ignore_ascii_case("fio") || is_iozone(spec) {
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
pub fn read(path: &str) -> Result<String, SpecError> {
    // Of standard input there is one look, and some commands read a file again.
    static INPUT: OnceLock<String> = OnceLock::new();
    let is_input = path == STANDARD_INPUT;
    if let Some(text) = INPUT.get().filter(|_| is_input) {
        return Ok(text.clone());
    }
    let text = text_file::read(Path::new(if is_input { "/dev/stdin" } else { path }));
    let text =
        text.map_err(|error| SpecError::of_file(path, format!("cannot be read: {error}")))?;
    Ok(if is_input { INPUT.get_or_init(|| text).clone() } else { text })
}

/// Where the iozone command of the file at `path` begins.
///
/// # Errors
/// The file cannot be read, or it holds no command.
pub fn command_place(path: &str) -> Result<Place, SpecError> {
    let place = iozone::place(path, &read(path)?);
    place.map_err(SpecError::from)
}

/// The rows of jobs of the file at `path`, with all options resolved and defaults filled in: one
/// of a job file, and one of an iozone command for each number of processes.
///
/// Of what is not supported, `approximately` leaves out what can be.
///
/// # Errors
/// The file cannot be read, or it contains something wrong or unsupported.
pub fn resolve(path: &str, approximately: bool) -> Result<Vec<JobRow>, SpecError> {
    if is_fio_command(path) {
        return rows(JobFile::parse_command(path), approximately);
    }
    of_text(path, &read(path)?, approximately)
}

/// As [`resolve`], of a job file's text that is there already; `path` is its name in messages and
/// tells an iozone command.
///
/// # Errors
/// The text contains something wrong or unsupported.
pub fn of_text(path: &str, text: &str, approximately: bool) -> Result<Vec<JobRow>, SpecError> {
    if is_fio_command(text) {
        return rows(JobFile::parse_command(text), approximately);
    }
    if is_iozone(path) {
        let rows = iozone::parse(path, text);
        return rows.map_err(SpecError::from);
    }
    if let Some(looks) = Looks::of(text).filter(|looks| *looks != Looks::JobFile) {
        let message = format!("{}; expected a fio job file", looks.words());
        return Err(SpecError::of_file(path, message));
    }
    let context = Context {
        variable: &|name| env::var(name).ok(),
        read: &text_file::read,
        // A default machine, not the one we run on, so that a job file means the same everywhere.
        machine: Machine::default(),
    };
    rows(JobFile::parse(path, text, &context), approximately)
}

/// The one row of a job file.
fn rows(file: Result<JobFile, Problems>, approximately: bool) -> Result<Vec<JobRow>, SpecError> {
    let resolve = if approximately { JobFile::resolve_approximately } else { JobFile::resolve };
    Ok(vec![file.and_then(|file| resolve(&file))?.into()])
}

/// The jobs of rows as the text of a job file each; of several, each below its label.
pub fn to_text(rows: &[JobRow]) -> String {
    let text = |row: &JobRow| match rows.len() {
        1 => jobs_to_text(&row.jobs),
        _ => format!("; ---- {}, a job file of its own\n{}", row.label, jobs_to_text(&row.jobs)),
    };
    rows.iter().map(text).collect::<Vec<_>>().join("\n")
}

/// The resolved jobs as the text of a job file, with the notes as comments at its end.
fn jobs_to_text(resolved: &Resolved) -> String {
    let notes = resolved.notes.iter().map(|note| format!("# note: {note}\n"));
    let gap = if resolved.notes.is_empty() { "" } else { "\n" };
    format!("{resolved}{gap}{}", notes.collect::<String>())
}

/// What results call the load that `spec` names: an experiment's file without folders and ending,
/// and others as they are named.
#[must_use]
pub fn id(spec: &str) -> String {
    let path = Path::new(spec);
    let is_experiment = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"));
    let stem = path.file_stem().filter(|_| is_experiment && !is_fio_command(spec));
    stem.map_or_else(|| spec.to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// Plans what `spec` names.
///
/// # Errors
/// `spec` names nothing that can be run, or its file or the options are wrong.
pub fn load(spec: &str, options: &Options) -> Result<Plan, SpecError> {
    if is_trace(spec) {
        return Ok(Plan::trace(spec, options)?);
    }
    if is_job_file(spec) {
        return Ok(Plan::job_rows(spec, &resolve(spec, options.approximates)?, options)?);
    }
    Ok(Plan::experiment(spec, options)?)
}

/// Plans what `text` says: an experiment, or a fio job file or command line. `name` stands for the
/// file in messages and results; with `.toml` at its end the text is an experiment.
///
/// # Errors
/// The text is neither, or it or the options are wrong.
pub fn load_text(name: &str, text: &str, options: &Options) -> Result<Plan, SpecError> {
    let is_experiment = || match Looks::of(text) {
        Some(looks) => matches!(looks, Looks::Catalog(_)),
        // It may be meant as one, and be wrong.
        None => text.lines().any(|line| line.starts_with("[[")),
    };
    if !is_path(name) && (is_fio_command(text) || !is_experiment()) {
        return Ok(Plan::job_rows(name, &of_text(name, text, options.approximates)?, options)?);
    }
    demand_experiment(name, text)?;
    let text = text.to_owned().into();
    let id = name.strip_suffix(".toml").unwrap_or(name).to_owned();
    let document = Document { id, path: name.to_owned(), text, written: None };
    Ok(Plan::document(document, options)?)
}
