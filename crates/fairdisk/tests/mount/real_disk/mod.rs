//! The bench of real disks: loads beside each other on real storage, the schedulers in turns, so
//! that ratios hold on a busy machine. It measures and never fails on a number. The short form is
//! a test like others; `FAIRDISK_REAL_DISK=long` runs the long one, and with `UPDATE=1` it rewrites
//! the tables of `docs/real-disk.md` and of the README. `settings.rs` lists what else the
//! environment may choose.

mod calm;
mod database;
mod figures;
mod fio;
mod lab;
mod loads;
mod mounts;
mod report;
mod rules;
mod settings;
mod turns;

use self::settings::Settings;
use crate::host::lacks_something;

#[test]
fn loads_in_turns() {
    if lacks_something() {
        return;
    }
    let settings = Settings::of_environment().unwrap_or_else(|error| panic!("{error}"));
    let mut measured = Vec::new();
    for storage in &settings.storages {
        match turns::take(storage, &settings) {
            Ok(outcome) => {
                println!("{}", report::section(&outcome, &settings));
                println!("{}", rules::table(&outcome));
                measured.push(outcome);
            }
            Err(why) => println!("skipped: {}: {why}", storage.name()),
        }
    }
    if settings.update {
        report::rewrite(&measured, &settings).unwrap_or_else(|error| panic!("{error}"));
    }
    let failures: Vec<&String> = measured.iter().flat_map(|outcome| &outcome.failures).collect();
    assert!(failures.is_empty(), "{failures:#?}");
}
