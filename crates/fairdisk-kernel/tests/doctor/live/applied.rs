//! Plans carried out on loop devices and groups of this machine.

use super::about;
use super::machine::Machine;
use super::version1::blkio;
use fairdisk_kernel::{Cause, Ioprio, Plan, Root, Snapshot, Step, apply, undo};
use std::fs;
use std::path::Path;

fn steps(plan: &str) -> Vec<Step> {
    Plan::parse(plan).unwrap().steps(&Snapshot::read(&Root::of_system())).unwrap()
}

fn scheduler(disk: &str) -> String {
    let line = fs::read_to_string(format!("/sys/block/{disk}/queue/scheduler")).unwrap();
    line.split_once('[').unwrap().1.split_once(']').unwrap().0.to_owned()
}

/// A plan for version 1, with one line more.
fn plan(disk: &str, group: &str, more: &str) -> String {
    format!(
        "[[device]]\npath = '/dev/{disk}'\nscheduler = 'bfq'\niosched.low_latency = 0\n\
         [[group]]\npath = '{group}'\nio.bfq.weight = 300\n\
         io.max.'/dev/{disk}' = 'rbps=1048576 wiops=100'\n{more}\n"
    )
}

#[test]
fn a_plan_is_in_force_until_it_is_taken_back() {
    let (Some(machine), Some(top)) = (Machine::new(), blkio()) else { return };
    let (disk, name) = (machine.disk(), machine.name());
    if !machine.schedule(&disk, "none") {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let (root, state) = (Root::of_system(), scratch.path().join("state"));
    let mut said = Vec::new();
    let steps = steps(&plan(&disk, &format!("{name}/db"), ""));
    apply(&root, &steps, &state, &mut |line| said.push(line.to_owned())).unwrap();
    let group = Path::new(&top).join(&name).join("db");
    let read = |file: &str| fs::read_to_string(group.join(file)).unwrap().trim().to_owned();
    assert_eq!((scheduler(&disk).as_str(), read("blkio.bfq.weight").as_str()), ("bfq", "300"));
    let number = machine.number();
    assert_eq!(read("blkio.throttle.read_bps_device"), format!("{number} 1048576"));
    assert_eq!(said.len(), 7, "{said:#?}");
    // What the doctor says of it: buffered writes pass by a limit of version 1.
    about(&machine.found(), &name, |it| {
        matches!(it, Cause::WritebackOfVersionOne { has_limit: true, .. })
    });
    undo(&root, &state, &mut |_| ()).unwrap();
    assert_eq!(scheduler(&disk), "none");
    assert!(!Path::new(&top).join(&name).exists() && !state.exists());
}

#[test]
fn a_plan_that_fails_in_the_middle_leaves_nothing() {
    let (Some(mut machine), Some(top)) = (Machine::new(), blkio()) else { return };
    let (disk, name) = (machine.disk(), machine.name());
    let group = machine.group(&top, &name);
    if !machine.schedule(&disk, "bfq") {
        return;
    }
    fs::write(group.join("blkio.bfq.weight"), "200").unwrap();
    if !machine.schedule(&disk, "none") {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let (root, state) = (Root::of_system(), scratch.path().join("state"));
    // A scheduler that no kernel has, for the same disk, after all else.
    let mut steps = steps(&plan(&disk, &name, ""));
    let Step::Write { file, form, .. } = steps[0].clone() else { panic!("{steps:#?}") };
    steps.push(Step::Write { file, value: "fairest".to_owned(), form });
    let why = apply(&root, &steps, &state, &mut |_| ()).unwrap_err();
    assert!(why.contains("cannot write `fairest`") && why.ends_with("nothing is changed"), "{why}");
    let read = |file: &str| fs::read_to_string(group.join(file)).unwrap().trim().to_owned();
    assert_eq!(scheduler(&disk), "none");
    assert_eq!(read("blkio.bfq.weight"), "200");
    assert_eq!(read("blkio.throttle.read_bps_device"), "");
    assert!(!state.exists());
}

#[test]
fn threads_of_a_group_get_their_priority_and_lose_it() {
    let (Some(mut machine), Some(top)) = (Machine::new(), blkio()) else { return };
    let name = machine.name();
    let pid = machine.waits(&["env"]);
    let group = machine.group(&top, &name);
    fs::write(group.join("cgroup.procs"), pid.to_string()).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let (root, state) = (Root::of_system(), scratch.path().join("state"));
    let before = Ioprio::of_thread(pid);
    let plan = format!("[[group]]\npath = '{name}'\nionice = 'best-effort:1'\n");
    apply(&root, &steps(&plan), &state, &mut |_| ()).unwrap();
    assert_eq!(Ioprio::of_thread(pid).unwrap().to_string(), "best-effort:1");
    undo(&root, &state, &mut |_| ()).unwrap();
    assert_eq!(Ioprio::of_thread(pid), before);
}
