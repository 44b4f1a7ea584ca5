//! Reports as pages, for `--report`.

use crate::failure::Failure;
use std::fs;
use std::path::Path;

/// Writes the page that `make` makes of the command line.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn write(path: &Path, make: impl FnOnce(&str) -> String) -> Result<(), Failure> {
    fs::write(path, make(&command()))
        .map_err(|error| Failure::Run(format!("--report {}: {error}", path.display())))
}

/// The command line, as it can be given again.
fn command() -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=.,:/+%@".contains(letter);
    let quoted = |argument: std::ffi::OsString| {
        let text = argument.to_string_lossy().into_owned();
        match !text.is_empty() && text.chars().all(plain) {
            true => text,
            false => format!("'{}'", text.replace('\'', "'\\''")),
        }
    };
    let arguments: Vec<String> = std::env::args_os().skip(1).map(quoted).collect();
    format!("fairdisk {}", arguments.join(" "))
}
