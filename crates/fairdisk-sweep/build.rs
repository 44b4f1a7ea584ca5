//! Hashes the sources by which a run is determined, so that no run of an older program is taken for
//! one of this program.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The folders whose files determine runs, beside the crates of others.
const FOLDERS: [&str; 7] = [
    "../fairdisk-core/src",
    "../fairdisk-sched/src",
    "../fairdisk-sim/src",
    "../fairdisk-trace/src",
    "../fairdisk-lab/src",
    "../../catalog",
    "src",
];

fn main() -> io::Result<()> {
    let mut hash = DefaultHasher::new();
    for folder in FOLDERS {
        println!("cargo::rerun-if-changed={folder}");
        let mut files = Vec::new();
        walk(Path::new(folder), &mut files)?;
        files.sort();
        for file in files {
            (file.display().to_string(), fs::read(&file)?).hash(&mut hash);
        }
    }
    println!("cargo::rustc-env=FAIRDISK_SOURCES={:016x}", hash.finish());
    Ok(())
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => walk(&path, found)?,
            false => found.push(path),
        }
    }
    Ok(())
}
