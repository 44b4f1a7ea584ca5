//! Reports as pages, for `--report`.

use crate::failure::Failure;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// How every page begins.
const PAGE_BEGINS: &[u8] = b"<!DOCTYPE html>";

/// Demands that a page can be written there and that nothing else is lost by it; before the work
/// that the page is about.
///
/// # Errors
/// There is no such directory or no right to write there, or something else is there.
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

/// Writes the page that `make` makes of the command line. What was there stays until it is whole.
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
                // The first error is the one to tell.
                let _ = fs::remove_file(&part);
            })
        }
    };
    written.map_err(|error| Failure::Run(format!("--report {}: {error}", path.display())))
}

/// What is at the end of a path.
enum Target {
    /// A file, or nothing yet.
    File(PathBuf),
    /// A pipe, a terminal, a file that has no name any more: nothing that could be replaced.
    Stream,
}

impl Target {
    fn of(path: &Path) -> Self {
        match fs::metadata(path) {
            Ok(found) if !found.is_file() && !found.is_dir() => Self::Stream,
            // Of a link what it leads to; never the link, which may be /dev/stdout.
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

/// The name of a page while it is being written.
fn part_of(file: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(file.file_name().unwrap_or(OsStr::new("report")));
    name.push(format!(".{}.part", std::process::id()));
    file.with_file_name(name)
}

/// The command line, as it can be given again.
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
