//! The package as programs see it: its tests in Python, run by the environment that
//! `scripts/python.sh` makes, with the module that was built beside this test.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package's folder.
fn package() -> PathBuf {
    fairdisk_tidy::files::root().join("python")
}

/// The interpreter of the environment of tests; `None` if there is none.
fn interpreter(profile: &Path) -> Option<PathBuf> {
    let python = profile.parent()?.join("python/bin/python");
    python.is_file().then_some(python)
}

/// The folder of the profile: target/PROFILE of target/PROFILE/deps/TEST.
fn profile() -> PathBuf {
    let test = env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().to_owned()
}

/// The package and its tests with the module, as if they were installed.
fn installed(module: &Path) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    for folder in ["fairdisk", "tests", "examples", "notebooks"] {
        copy(&package().join(folder), &place.path().join(folder));
    }
    fs::copy(package().join("pyproject.toml"), place.path().join("pyproject.toml")).unwrap();
    let name = place.path().join("fairdisk/_fairdisk.abi3.so");
    if name.symlink_metadata().is_ok() {
        fs::remove_file(&name).unwrap();
    }
    std::os::unix::fs::symlink(module, name).unwrap();
    place
}

fn copy(from: &Path, to: &Path) {
    let Ok(entries) = fs::read_dir(from) else { return };
    fs::create_dir_all(to).unwrap();
    for entry in entries {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap();
        let is_built =
            file.to_str().is_some_and(|it| it.ends_with(".so") || it.starts_with("__py"));
        match path.is_dir() {
            _ if is_built => {}
            true => copy(&path, &to.join(file)),
            false => _ = fs::copy(&path, to.join(file)).unwrap(),
        }
    }
}

/// The module that was built beside this test.
fn module(profile: &Path) -> PathBuf {
    profile.join("deps/lib_fairdisk.so")
}

/// Runs one file of tests; what it prints is shown if it fails.
fn passes(tests: &str) {
    let profile = profile();
    let Some(python) = interpreter(&profile) else {
        println!("skipped: no environment for Python; run scripts/python.sh");
        return;
    };
    let module = module(&profile);
    let place = installed(&module);
    let program = fairdisk_tidy::binary::fairdisk().unwrap();
    let output = Command::new(python)
        .args(["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--durations=5"])
        .arg(format!("tests/{tests}"))
        .current_dir(place.path())
        .env("PYTHONPATH", place.path())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("FAIRDISK_PROGRAM", program)
        .env("UPDATE_PACKAGE", env::var_os("UPDATE").map_or("".into(), |_| package()))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let failed = String::from_utf8_lossy(&output.stderr);
    println!("{said}");
    assert!(output.status.success(), "{said}{failed}");
    assert!(!said.contains("skipped"), "{said}");
}

#[test]
fn errors_name_the_argument_and_the_remedy() {
    passes("test_errors.py");
}

#[test]
fn results_are_tables_and_equal_the_programs() {
    passes("test_results.py");
}

#[test]
fn sweeps_give_the_same_wherever_they_run() {
    passes("test_sweep.py");
}

#[test]
fn ctrl_c_ends_a_run_and_others_work_meanwhile() {
    passes("test_interrupt.py");
}

#[test]
fn tuning_finds_what_keeps_wishes() {
    passes("test_tune.py");
}

#[test]
fn types_are_checked() {
    passes("test_types.py");
}

/// Runs a script of the project, which makes something in a folder of its own, with the module.
fn makes(script: &str, expected: &str) {
    let profile = profile();
    if interpreter(&profile).is_none() {
        println!("skipped: no environment for Python; run scripts/python.sh");
        return;
    }
    let made = tempfile::tempdir().unwrap();
    let output = Command::new("bash")
        .arg(fairdisk_tidy::files::root().join("scripts").join(script))
        .arg(made.path())
        .env("CARGO_TARGET_DIR", profile.parent().unwrap())
        .env("FAIRDISK_MODULE", module(&profile))
        .env("FAIRDISK_PROGRAM", fairdisk_tidy::binary::fairdisk().unwrap())
        .env("SHORT", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains(expected), "{said}{failed}");
}

#[test]
fn notebooks_run_from_top_to_bottom_and_the_book_has_no_broken_link() {
    makes("docs.sh", " 0 broken links");
}

#[test]
fn the_wheel_installs_in_a_fresh_environment_and_equals_the_program() {
    makes("wheel.sh", " passed");
}
