//! Hashes all by which a run is determined, so that no run of an older program is taken for one of
//! this program: its own sources and the versions of the crates of others.

use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The folders and files that determine runs.
const SOURCES: [&str; 8] = [
    "../fairdisk-core/src",
    "../fairdisk-sched/src",
    "../fairdisk-sim/src",
    "../fairdisk-trace/src",
    "../fairdisk-lab/src",
    "../../catalog",
    "../../Cargo.lock",
    "src",
];

fn main() -> io::Result<()> {
    let mut hash = Sha256::new();
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
        let mut files = Vec::new();
        walk(Path::new(source), &mut files)?;
        files.sort();
        for file in files {
            let (name, text) = (file.display().to_string(), fs::read(&file)?);
            // With their lengths before them, no two lists of files are the same text.
            for part in [name.as_bytes(), &text] {
                hash.update(part.len().to_le_bytes());
                hash.update(part);
            }
        }
    }
    println!("cargo::rustc-env=FAIRDISK_SOURCES={:x}", hash.finalize());
    Ok(())
}

fn walk(path: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_file() {
        found.push(path.to_owned());
        return Ok(());
    }
    fs::read_dir(path)?.try_for_each(|entry| walk(&entry?.path(), found))
}
