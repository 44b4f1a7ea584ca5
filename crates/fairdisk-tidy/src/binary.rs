//! Locates the `fairdisk` program for tests, in the target directory beside them.

use crate::files::root;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;
use std::{env, fs};

/// The path of the built program. `cargo test --workspace` builds it; it is built here only if it
/// is missing or older than its sources.
///
/// # Errors
/// The program cannot be built; the message says why.
pub fn fairdisk() -> Result<PathBuf, String> {
    let test = env::current_exe().map_err(|error| error.to_string())?;
    // target/<profile>/deps/<test>
    let profile = test.ancestors().nth(2).ok_or("the test is not in target/<profile>/deps")?;
    let program = profile.join("fairdisk").with_extension(env::consts::EXE_EXTENSION);
    if !is_current(&program) {
        build(profile)?;
    }
    if program.is_file() { Ok(program) } else { Err(format!("{} is missing", program.display())) }
}

fn is_current(program: &Path) -> bool {
    let changed = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
    let Some(built) = changed(program) else { return false };
    let mut newest = SystemTime::UNIX_EPOCH;
    let of_sources = ["rs", "toml", "html", "css", "js"];
    let mut folders = vec![root().join("crates"), root().join("catalog")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            // Only the files of a crate that the program is built from.
            let other = ["tests", "benches", "examples", "fairdisk-tidy"];
            if path.is_dir() && !other.iter().any(|name| path.ends_with(name)) {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|ending| of_sources.iter().any(|it| ending == *it))
            {
                newest = newest.max(changed(&path).unwrap_or(newest));
            }
        }
    }
    built >= newest
}

fn build(profile: &Path) -> Result<(), String> {
    let target = profile.parent().ok_or("no target folder")?;
    // Cargo puts what it builds with the profile `test` into `debug`.
    let name = match profile.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "test",
        Some(name) => name,
    };
    let status = Command::new(env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()))
        .args(["build", "--quiet", "--locked", "-p", "fairdisk", "--bin", "fairdisk"])
        .args(["--profile", name, "--target-dir"])
        .arg(target)
        // Of the runner of tests; a build with it is another one.
        .env_remove("RUSTC_BOOTSTRAP")
        .current_dir(root())
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("cargo build: {status}")),
        Err(error) => Err(format!("cargo build: {error}")),
    }
}
