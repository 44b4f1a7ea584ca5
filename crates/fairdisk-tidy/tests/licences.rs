//! Tests of licences: every dependency must have a licence that permits distributing Fairdisk under
//! MIT or Apache-2.0.

use fairdisk_tidy::files::{demand_none, root};
use fairdisk_tidy::licence::is_met;
use serde_json::Value;
use std::env;
use std::process::Command;

/// Permissive licences, which require no more than that their text and copyright notice are kept.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// The target triple of this machine, because dependencies for other systems may not have been
/// downloaded.
fn host() -> String {
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = Command::new(rustc).arg("-vV").output().expect("rustc runs");
    let text = String::from_utf8(output.stdout).expect("rustc prints text");
    let host = text.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc has a host");
    host.to_owned()
}

fn packages() -> Vec<Value> {
    let cargo = env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["metadata", "--locked", "--format-version", "1", "--filter-platform", &host()])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let Value::Array(packages) = metadata["packages"].take() else { panic!("no packages") };
    packages
}

#[test]
fn every_dependency_may_be_given_on() {
    let packages = packages();
    assert!(packages.len() > 10, "{} packages cannot be all", packages.len());
    let faults: Vec<String> = packages
        .iter()
        .filter_map(|package| {
            let licence = package["license"].as_str().unwrap_or("none stated");
            let fault = || format!("{} {}: {licence}", package["name"], package["version"]);
            (!is_met(licence, ALLOWED)).then(fault)
        })
        .collect();
    demand_none(&faults);
}

#[test]
fn our_own_crates_carry_both_licences() {
    let own = packages().into_iter().filter(|package| package["source"].is_null());
    let faults: Vec<String> = own
        .filter(|package| package["license"] != "MIT OR Apache-2.0")
        .map(|package| format!("{}: {}", package["name"], package["license"]))
        .collect();
    demand_none(&faults);
    for file in ["LICENSE-MIT", "LICENSE-APACHE"] {
        assert!(root().join(file).is_file(), "{file} is missing");
    }
}
