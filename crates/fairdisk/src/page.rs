//! Report pages: the HTML files of `--report`.

use crate::failure::Failure;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// The first bytes of every report page, by which a page of ours is recognised.
const PAGE_BEGINS: &[u8] = b"<!DOCTYPE html>";

/// Checks that a page can be written at `path` and would overwrite nothing but an earlier page. To
/// be called before the work that the page reports, which would otherwise be lost.
///
/// # Errors
/// The directory is missing or not writable, or something else is at `path`.
pub(crate) fn demand_place(path: &Path) -> Result<(), Failure> {
    let bad = |text: String| Failure::BadInput(format!("--report {}: {text}", path.display()));
    let target = Target::of(path);
    match &target {
        Target::Stream => Ok(()),
        Target::File(file) if file.is_dir() => {
            Err(bad("a directory; expected the name of a file, as in report.html".to_owned()))
        }
        Target::File(file) => {
            if holds_something_else(file).map_err(|error| bad(error.to_string()))? {
                let text = "is no page and would be overwritten; choose another name or remove it";
                return Err(bad(text.to_owned()));
            }
            let part = part_of(file);
            let made = File::create_new(&part).and_then(|_| fs::remove_file(&part));
            made.map_err(|error| bad(format!("cannot be written there: {error}")))
        }
    }
}

/// Writes the page that `make` returns for the command line. An existing page is replaced
/// atomically, once the new one is complete.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn write(path: &Path, make: impl FnOnce(&str) -> String) -> Result<(), Failure> {
    let page = make(&command());
    let written = match Target::of(path) {
        Target::Stream => fs::write(path, page),
        Target::File(file) => {
            let part = part_of(&file);
            let written = fs::write(&part, page).and_then(|()| fs::rename(&part, &file));
            written.inspect_err(|_| {
                // The write or rename error is the one to report.
                let _ = fs::remove_file(&part);
            })
        }
    };
    written.map_err(|error| Failure::Run(format!("--report {}: {error}", path.display())))
}

/// What a `--report` path refers to.
enum Target {
    /// A regular file or a directory, or nothing yet.
    File(PathBuf),
    /// A pipe, a terminal, or an open file without a name: it can be written to but not replaced.
    Stream,
}

impl Target {
    fn of(path: &Path) -> Self {
        match fs::metadata(path) {
            Ok(found) if !found.is_file() && !found.is_dir() => Self::Stream,
            // The target of a symbolic link is replaced, never the link itself, which may be
            // /dev/stdout.
            Ok(_) => fs::canonicalize(path).map_or(Self::Stream, Self::File),
            Err(_) => Self::File(path.to_owned()),
        }
    }
}

fn holds_something_else(file: &Path) -> io::Result<bool> {
    let mut open = match File::open(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        open => open?,
    };
    let mut begins = Vec::new();
    open.by_ref().take(PAGE_BEGINS.len() as u64).read_to_end(&mut begins)?;
    Ok(!begins.is_empty() && begins != PAGE_BEGINS)
}

/// The temporary name of a page that is being written, in the same directory.
fn part_of(file: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(file.file_name().unwrap_or(OsStr::new("report")));
    name.push(format!(".{}.part", std::process::id()));
    file.with_file_name(name)
}

/// The command line of this process, quoted for the shell.
fn command() -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=.,:/+%@".contains(letter);
    let quoted = |argument: OsString| {
        let text = argument.to_string_lossy().into_owned();
        match !text.is_empty() && text.chars().all(plain) {
            true => text,
            false => format!("'{}'", text.replace('\'', "'\\''")),
        }
    };
    let arguments: Vec<String> = std::env::args_os().skip(1).map(quoted).collect();
    format!("fairdisk {}", arguments.join(" "))
}
