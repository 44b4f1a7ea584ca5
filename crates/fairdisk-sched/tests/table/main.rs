//! Table tests: every `tests/tables/*.txt` is one scenario, line by line. To the left of `=>` is
//! what happens, to the right what the engine must do and why. `UPDATE=1 cargo test --test table`
//! rewrites the right side. `tests/tables/README.md` describes the format.

mod cast;
mod play;
mod scenario;
mod settings;
mod telling;

use scenario::Scenario;
use std::fs;
use std::path::{Path, PathBuf};

fn tables() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder of tables")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    files.sort();
    files
}

/// Plays one table. Returns the differences, or rewrites the file.
fn check(path: &Path, update: bool) -> Vec<String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = fs::read_to_string(path).expect("a readable table");
    let scenario = match Scenario::parse(&text) {
        Ok(scenario) => scenario,
        Err(fault) => return vec![format!("{name}: {fault}")],
    };
    let told = match play::play(&scenario) {
        Ok(told) => told,
        Err(fault) => return vec![format!("{name}: {fault}")],
    };
    if update {
        fs::write(path, scenario.rewritten(&told)).expect("a writable table");
        return Vec::new();
    }
    let steps = scenario.steps.iter().zip(&told).filter(|(step, told)| step.expected != **told);
    steps
        .map(|(step, told)| {
            format!(
                "{name}:{}: {}\n  table  {}\n  engine {told}",
                step.line, step.left, step.expected
            )
        })
        .collect()
}

#[test]
fn every_table_is_what_happens() {
    let update = std::env::var_os("UPDATE").is_some();
    let tables = tables();
    assert!(tables.len() >= 10, "the tables are missing");
    let differences: Vec<String> = tables.iter().flat_map(|path| check(path, update)).collect();
    assert!(differences.is_empty(), "{}\n(UPDATE=1 rewrites the tables)", differences.join("\n"));
}
