//! Plans tried out with real loads.

use super::machine::Machine;
use super::version1::blkio;
use fairdisk_kernel::{Load, Plan, Root, verify};
use std::path::Path;

fn lacks_fio() -> bool {
    let missing = std::process::Command::new("fio").arg("--version").output().is_err();
    if missing {
        println!("skipped: no fio");
    }
    missing
}

/// Of two groups with limits each does what its own one says.
#[test]
fn a_limit_is_measured_as_it_was_asked_for() {
    let (Some(machine), Some(top)) = (Machine::new(), blkio()) else { return };
    if lacks_fio() {
        return;
    }
    let disk = machine.disk();
    let text = format!(
        "[[device]]\npath = '/dev/{disk}'\nscheduler = 'none'\n\
         [[group]]\npath = 'db'\nio.max.'/dev/{disk}' = 'riops=200'\n\
         [[group]]\npath = 'backup'\nio.max.'/dev/{disk}' = 'riops=50'\npredicted.iops = 50.0\n"
    );
    let plan = Plan::parse(&text).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let state = scratch.path().join("state");
    let load = Load { seconds: 3, depth: 4 };
    let verified = verify(&Root::of_system(), &plan, load, &state, &mut |_| ()).unwrap();
    let [db, backup] = &verified[..] else { panic!("{verified:#?}") };
    assert_eq!((db.asked_riops, backup.predicted_iops), (Some(200), Some(50.0)));
    let ratio = db.measured_iops / backup.measured_iops;
    assert!((3.0..5.0).contains(&ratio), "{verified:#?}");
    assert!(db.measured_iops < 250.0, "{verified:#?}");
    let throw_away = format!("fairdisk-verify-{}", std::process::id());
    assert!(!Path::new(&top).join(throw_away).exists() && !state.exists());
}
