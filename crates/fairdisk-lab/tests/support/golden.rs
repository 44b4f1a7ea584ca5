//! Expected texts in files; `UPDATE=1` writes them.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

/// Lines of a difference that are shown at most.
const LINES_SHOWN: usize = 20;

/// Compares with the file, or writes it.
///
/// # Errors
///
/// Says which lines differ.
pub(crate) fn compare(path: &Path, actual: &str) -> Result<(), String> {
    if env::var_os("UPDATE").is_some() {
        fs::write(path, actual).expect("what is expected can be written");
        return Ok(());
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    if expected == actual {
        return Ok(());
    }
    let (before, now) = (expected.lines().count(), actual.lines().count());
    let mut said = format!("{} differs (UPDATE=1 writes it)", path.display());
    if before != now {
        let _ = write!(said, "\n{now} lines instead of {before}");
    }
    let lines = expected.lines().zip(actual.lines()).enumerate();
    for (index, (before, now)) in lines.filter(|(_, (a, b))| a != b).take(LINES_SHOWN) {
        let _ = write!(said, "\n{}: expected {before}\n{0}: now      {now}", index + 1);
    }
    Err(said)
}
