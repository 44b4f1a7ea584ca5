//! Expected texts beside their inputs; `UPDATE=1` writes them.

use std::path::Path;

/// Compares with the file, or writes it.
pub(crate) fn compare(path: &Path, actual: &str) -> Result<(), String> {
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, actual).expect("a snapshot can be written");
        return Ok(());
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    if expected == actual {
        return Ok(());
    }
    Err(format!("{} differs (UPDATE=1 writes it)\n--- now:\n{actual}", path.display()))
}
