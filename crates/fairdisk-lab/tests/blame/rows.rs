//! Mixtures of two schedulers under a row that changes schedulers, the device, the host and the
//! volumes.

use fairdisk_lab::blame::{Between, Difference, FactorSet, Measure as _, Metric, Side};
use fairdisk_lab::catalog::overrides::Override;
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::run_once;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

const ENDS: [&str; 2] = ["cfq-2.6.32", "cfq-2.6.33"];

fn changes(sets: &[&str]) -> Vec<Override> {
    sets.iter().map(|set| Override::parse(set).unwrap()).collect()
}

/// An experiment with readers under each of the ends, in an unchanged row and in one with changes.
fn file(set: &str) -> PathBuf {
    let arms = ENDS.map(|end| format!("[[arm]]\nname = \"{end}\"\nscheduler = \"{end}\"\n"));
    let row = |label: &str, set: &str| {
        format!("[[row]]\nlabel = \"{label}\"\ntasks = [{{ group = \"/\", count = 4 }}]\n{set}\n")
    };
    let text = format!(
        "id = \"mine\"\ntitle = \"Readers\"\ndevice = \"hdd-7200-2007\"\nhost = \"plain\"\n\
         duration_s = 4\n[[volume]]\nname = \"data\"\nkind = \"ext3\"\nfiles = 8\nfile_mib = 64\n\
         [defaults]\nvolume = \"data\"\n[[group]]\nname = \"/\"\n{}{}{}",
        row("plain", ""),
        row("changed", set),
        arms.concat(),
    );
    let number = std::thread::current().id();
    let name = format!("fairdisk-blame-{}-{number:?}", std::process::id());
    let place = std::env::temp_dir().join(name.replace(['(', ')'], "-"));
    std::fs::create_dir_all(&place).unwrap();
    let path = place.join("mine.toml");
    std::fs::write(&path, text).unwrap();
    path
}

/// I/Os per second of the first seed in a row under both ends: as run, and as measured by blame.
fn ios(path: &Path, row: &str, given: &[&str]) -> [[f64; 2]; 2] {
    let spec = path.to_string_lossy();
    let stop = AtomicBool::new(false);
    let options = |rows| Options { rows, overrides: changes(given), ..Options::default() };
    let options = options(vec![row.to_owned()]);
    let plan = Plan::experiment(&spec, &options).unwrap();
    let run = [0, 1].map(|arm: usize| {
        let (arm, row) = plan.cell(arm, 0);
        let run = run_once(&plan, arm, row, 0, &stop).unwrap();
        Metric::Ios.of(&run, &[]).unwrap()
    });
    let [good, bad] = ENDS.map(|end| Side { scheduler: end.to_owned(), overrides: Vec::new() });
    let difference = Difference::between(&good, &bad, &options.overrides).unwrap();
    let count = difference.factors.len();
    let planner = |options: &Options| Plan::experiment(&spec, options);
    let between = Between::new(difference, Metric::Ios, &planner, options, &stop).unwrap();
    let ends = [FactorSet::EMPTY, FactorSet::first(count)];
    [run, ends.map(|set| between.measure(set, 0).unwrap().value)]
}

#[test]
fn what_a_row_changes_is_changed_in_all_mixtures() {
    for (set, more) in [
        ("host.turnaround_us=[4000, 5000]", &[][..]),
        ("device.rpm=15000", &[]),
        ("volume.cached=true", &[]),
        ("cfq.slice_idle_ms=0", &[]),
        ("cfq.slice_idle_ms=0", &["scheduler.cfq.slice_idle_ms=4"]),
        // The ends differ in this switch.
        ("switches.slice_scaling=false", &[]),
        ("switches.slice_scaling=false", &["scheduler.switches.slice_scaling=true"]),
    ] {
        let path = file(&format!("set = [\"{set}\"]"));
        let [run, measured] = ios(&path, "changed", more);
        assert_eq!(run, measured, "{set} {more:?}");
        let [plain, _] = ios(&path, "plain", more);
        assert_eq!(run == plain, !more.is_empty(), "{set}: {run:?} and {plain:?}");
        std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }
}
