//! The Debian package, in a system of its own.

use crate::host::{Host, is_missing, lacks_something, soak, text};
use std::path::Path;
use std::process::{Command, Output};

/// Runs a script of the project, which has to succeed.
fn run(script: &str, version: &str, arguments: &[&Path]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new("bash")
        .arg(root.join("scripts").join(script))
        .args(arguments)
        .env("FAIRDISK_PROGRAM", env!("CARGO_BIN_EXE_fairdisk"))
        .env("LEVEL", "0")
        .env("VERSION", version)
        .output()
        .unwrap();
    println!("{}", text(&output));
    assert!(output.status.success(), "{script}: {}", output.status);
    output
}

/// The short form uses what is installed here, with all changes in memory; the long form a system
/// that `mmdebstrap` makes.
#[test]
fn a_package_installs_mounts_upgrades_and_purges_clean() {
    if lacks_something() || is_missing("dpkg-deb") || is_missing("unshare") {
        return;
    }
    // Holds the lock on which tests take turns.
    let host = Host::new();
    let made = host.scratch();
    let architecture = Command::new("dpkg").arg("--print-architecture").output().unwrap();
    let architecture = String::from_utf8(architecture.stdout).unwrap();
    let packages = ["1.0", "1.1"].map(|version| {
        run("package.sh", version, &[made]);
        made.join(format!("fairdisk_{version}_{}.deb", architecture.trim()))
    });
    let [package, newer] = packages.each_ref().map(|path| path.as_path());
    let done = run("package-test.sh", "", &[package, newer]);
    assert!(text(&done).contains("purged") || text(&done).contains("skipped: "));
    if soak() && !is_missing("mmdebstrap") {
        let root = made.join("root.tar");
        let mut system = Command::new("mmdebstrap");
        system.args(["--variant=essential", "--include=fuse3", "bookworm"]).arg(&root);
        if system.status().is_ok_and(|status| status.success()) {
            run("package-test.sh", "", &[package, newer, &root]);
        } else {
            println!("skipped: mmdebstrap makes no system");
        }
    }
    if !is_missing("lintian") {
        let said = Command::new("lintian").arg(package).output().unwrap();
        let faults: Vec<String> = String::from_utf8_lossy(&said.stdout)
            .lines()
            .filter(|line| line.starts_with("E: ") || line.starts_with("W: "))
            .map(str::to_owned)
            .collect();
        assert!(faults.is_empty(), "{faults:#?}");
    }
}
