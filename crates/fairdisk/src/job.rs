//! Reads fio job files and iozone commands from disk, and resolves the environment variables and
//! include files of job files.

use crate::failure::Failure;
use fairdisk_lab::catalog::library::Kind;
use fairdisk_lab::iozone;
use fairdisk_lab::jobfile::{
    Context, JobFile, JobRow, Machine, Place, Problems, Resolved, is_fio_command,
};
use fairdisk_lab::looks::Looks;
use fairdisk_lab::text_file;
use std::env;
use std::path::Path;
use std::sync::OnceLock;

/// Whether `spec` names an iozone command: its extension is `.iozone`.
pub(crate) fn is_iozone(spec: &str) -> bool {
    Path::new(spec).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("iozone"))
}

/// What stands for standard input as a job file.
const STANDARD_INPUT: &str = "-";

/// Whether `spec` names a trace: a file that begins like one and is named neither `.toml` nor
/// `.fio`, or the common name of the files of blktrace.
pub(crate) fn is_trace(spec: &str) -> bool {
    let path = Path::new(spec);
    let ending = path.extension().unwrap_or_default();
    let is_text = ["toml", "fio", "iozone"].iter().any(|one| ending.eq_ignore_ascii_case(one));
    !is_text && Kind::Experiment.ids().all(|id| id != spec) && fairdisk_trace::is_trace(path)
}

/// Whether `spec` names a job file or an iozone command: its extension is `.fio` or `.iozone`; or,
/// since fio requires no extension, it is an existing file that neither ends in `.toml` nor has the
/// name of a built-in experiment; or `-`, or a command line of fio.
pub(crate) fn is_job_file(spec: &str) -> bool {
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
pub(crate) fn read(path: &str) -> Result<String, Failure> {
    // Of standard input there is one look, and some commands read a file again.
    static INPUT: OnceLock<String> = OnceLock::new();
    let is_input = path == STANDARD_INPUT;
    if let Some(text) = INPUT.get().filter(|_| is_input) {
        return Ok(text.clone());
    }
    let text = text_file::read(Path::new(if is_input { "/dev/stdin" } else { path }));
    let text =
        text.map_err(|error| Failure::BadInput(format!("{path}: cannot be read: {error}")))?;
    Ok(if is_input { INPUT.get_or_init(|| text).clone() } else { text })
}

/// Where the iozone command of the file at `path` begins.
///
/// # Errors
/// The file cannot be read, or it holds no command.
pub(crate) fn command_place(path: &str) -> Result<Place, Failure> {
    let place = iozone::place(path, &read(path)?);
    place.map_err(|problems| Failure::BadInput(problems.to_string()))
}

/// The rows of jobs of the file at `path`, with all options resolved and defaults filled in: one
/// of a job file, and one of an iozone command for each number of processes.
///
/// Of what is not supported, `approximately` leaves out what can be.
///
/// # Errors
/// The file cannot be read, or it contains something wrong or unsupported.
pub(crate) fn resolve(path: &str, approximately: bool) -> Result<Vec<JobRow>, Failure> {
    let rows = |file: Result<JobFile, Problems>| {
        let resolve = if approximately { JobFile::resolve_approximately } else { JobFile::resolve };
        let jobs = file.and_then(|file| resolve(&file)).map(|jobs| vec![jobs.into()]);
        jobs.map_err(|problems| Failure::BadInput(problems.to_string()))
    };
    if is_fio_command(path) {
        return rows(JobFile::parse_command(path));
    }
    let text = read(path)?;
    if is_fio_command(&text) {
        return rows(JobFile::parse_command(&text));
    }
    if is_iozone(path) {
        let rows = iozone::parse(path, &text);
        return rows.map_err(|problems| Failure::BadInput(problems.to_string()));
    }
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
    rows(JobFile::parse(path, &text, &context))
}

/// The jobs of rows as the text of a job file each; of several, each below its label.
pub(crate) fn to_text(rows: &[JobRow]) -> String {
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
