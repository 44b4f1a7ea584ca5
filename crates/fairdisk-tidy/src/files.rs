//! The text files of the repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root directory of the repository.
///
/// # Panics
/// If this crate is not two directories below the root.
#[must_use]
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("crates/fairdisk-tidy").to_owned()
}

/// A text file of the repository.
#[derive(Clone, Debug)]
pub struct File {
    /// The path of the file, relative to the root directory.
    pub path: String,
    /// The contents of the file.
    pub text: String,
}

/// The text files whose names end in one of `endings`, in order of their paths. In a git repository
/// these are the tracked files, so that leftovers of editors and builds do not count; in an
/// unpacked archive, all files.
#[must_use]
pub fn ending_in(endings: &[&str]) -> Vec<File> {
    let root = root();
    let mut paths = tracked(&root).unwrap_or_else(|| {
        let mut found = Vec::new();
        walk(&root, "", &mut found);
        found
    });
    paths.retain(|path| endings.iter().any(|ending| path.ends_with(ending)));
    paths.sort();
    let read = |path: String| {
        let text = fs::read_to_string(root.join(&path)).ok()?;
        Some(File { path, text })
    };
    paths.into_iter().filter_map(read).collect()
}

fn tracked(root: &Path) -> Option<Vec<String>> {
    let git = Command::new("git").arg("-C").arg(root).args(["ls-files", "-z"]).output().ok()?;
    let list = String::from_utf8(git.stdout).ok()?;
    let paths: Vec<String> =
        list.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect();
    (git.status.success() && !paths.is_empty()).then_some(paths)
}

fn walk(root: &Path, folder: &str, found: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(root.join(folder)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_file() {
            found.push(path);
        } else if kind.is_dir() && !name.starts_with('.') && !name.starts_with("target") {
            walk(root, &path, found);
        }
    }
}

/// Panics with a list of all faults, if there are any.
///
/// # Panics
/// If `faults` is not empty.
pub fn demand_none(faults: &[String]) {
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}
