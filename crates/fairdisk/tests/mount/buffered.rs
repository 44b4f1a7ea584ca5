//! Buffered writers through a mount, and what the lab says they get through one.

use crate::host::lacks_something;
use crate::prediction::run;
use crate::shares::{BUFFERED, MODEL, WEIGHTS, shares};
use std::fmt::Write as _;
use std::fs;

const PROCESSES: u32 = 4;
const SECONDS: u32 = 20;
/// How far the lab may be off, in points.
const POINTS: f64 = 3.0;

/// An experiment like that: groups with a file each, into which their tasks write below a mount.
fn experiment() -> String {
    let mut text = String::from(
        "id = \"buffered\"\ntitle = \"Buffered writers\"\ndevice = \"wd2500js\"\n\
         host = \"mount\"\nramp_s = 2\nduration_s = 60\n",
    );
    let (mut groups, mut tasks) = (String::new(), String::new());
    for (at, weight) in WEIGHTS.iter().enumerate() {
        writeln!(
            text,
            "\n[[volume]]\nname = \"file{at}\"\nkind = \"raw\"\nstart_gib = {}\n\
             size_gib = 0.25",
            0.25 * at as f64
        )
        .unwrap();
        writeln!(groups, "  {{ name = \"g{at}\", weight = {weight} }},").unwrap();
        writeln!(
            tasks,
            "  {{ group = \"g{at}\", volume = \"file{at}\", count = {PROCESSES}, op = \"write\", \
             direct = false }},"
        )
        .unwrap();
    }
    text + &format!(
        "\n[[row]]\nlabel = \"writers\"\ngroups = [\n{groups}]\ntasks = [\n{tasks}]\n\n\
         [[arm]]\nname = \"mounted\"\nscheduler = \"fair\"\n"
    )
}

/// Weights rule, and the lab says so.
#[test]
fn the_lab_says_what_buffered_writers_get_through_a_mount() {
    if lacks_something() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("buffered.toml");
    fs::write(&file, experiment()).unwrap();
    // A mount tells its scheduler what requests cost a modelled disk.
    let row = run(file.to_str().unwrap(), &["--set", "host.queue.tells_costs=true"]);
    let said = [0, 1, 2].map(|at| 100.0 * row["groups"][at]["time_share"].as_f64().unwrap());
    let mounted = shares(MODEL, PROCESSES, BUFFERED, SECONDS);
    println!("through the mount {mounted:.1?}, in the lab {said:.1?}");
    for (mounted, said) in mounted.iter().zip(said) {
        assert!((mounted - said).abs() <= POINTS, "{mounted:.1} through the mount, {said:.1} said");
    }
}
