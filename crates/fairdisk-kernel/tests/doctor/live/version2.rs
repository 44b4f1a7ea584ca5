//! Faults of version 2, planted where it has `io`, or where it can be given `io` for a while.

use super::machine::{Machine, run};
use super::{about, faults_about};
use fairdisk_kernel::Cause;
use std::fs;
use std::path::Path;

/// Version 2 with `io` for the groups at the top; as it was before when dropped.
struct Unified {
    top: String,
    /// Where `blkio` of version 1 was.
    taken_from: Option<String>,
    handed_on: bool,
}

/// The variable that lets the test unmount `blkio` of version 1 for a while. Nobody else may use it
/// meanwhile.
const MAY_TAKE: &str = "FAIRDISK_TAKE_BLKIO";

/// How often a change of the kernel's is looked for.
const LOOKS: usize = 20_000;

fn mounts(kind: &str) -> Vec<(String, String)> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let of_kind = fields.filter(|fields| fields[2] == kind);
    of_kind.map(|fields| (fields[1].to_owned(), fields[3].to_owned())).collect()
}

fn has_word(file: &str, word: &str) -> bool {
    fs::read_to_string(file).is_ok_and(|text| text.split_whitespace().any(|one| one == word))
}

fn has_groups(top: &str) -> bool {
    let mut entries = fs::read_dir(top).unwrap().flatten();
    entries.any(|entry| entry.path().is_dir())
}

impl Unified {
    /// `None` with the reason printed if version 2 cannot have `io`.
    fn new(_turn: &Machine) -> Option<Self> {
        let mut v2 = Self::take()?;
        let controllers = format!("{}/cgroup.controllers", v2.top);
        let found = (0..LOOKS).any(|_| {
            std::thread::yield_now();
            has_word(&controllers, "io")
        });
        let handing_on = format!("{}/cgroup.subtree_control", v2.top);
        if !found {
            println!("skipped: version 2 of cgroups is not given io; another has it");
            return None;
        }
        if !has_word(&handing_on, "io") {
            fs::write(&handing_on, "+io").unwrap();
            v2.handed_on = true;
        }
        Some(v2)
    }

    /// Takes `blkio` from version 1 if nobody uses it.
    fn take() -> Option<Self> {
        let Some((top, _)) = mounts("cgroup2").pop() else {
            println!("skipped: version 2 of cgroups is not mounted");
            return None;
        };
        let v1 = mounts("cgroup").into_iter();
        let mut v1 = v1.filter(|(_, options)| options.split(',').any(|one| one == "blkio"));
        let Some((at, options)) = v1.next() else {
            return Some(Self { top, taken_from: None, handed_on: false });
        };
        if std::env::var_os(MAY_TAKE).is_none() {
            // Who runs the tests has to want that: others may use the tree.
            println!("left out: version 1 of cgroups has blkio; {MAY_TAKE}=1 takes it");
            return None;
        }
        if options.split(',').filter(|it| !["rw", "relatime", "blkio"].contains(it)).count() > 0 {
            println!("skipped: blkio of version 1 has a tree together with others");
            return None;
        }
        if has_groups(&at) {
            println!("skipped: blkio of version 1 has groups");
            return None;
        }
        run("umount", &[&at]).unwrap();
        Some(Self { top, taken_from: Some(at), handed_on: false })
    }
}

impl Drop for Unified {
    fn drop(&mut self) {
        if self.handed_on {
            let _ = fs::write(format!("{}/cgroup.subtree_control", self.top), "-io");
        }
        if let Some(at) = &self.taken_from {
            let again = || run("mount", &["-t", "cgroup", "-o", "blkio", "cgroup", at]).is_ok();
            let back = (0..LOOKS).any(|_| {
                std::thread::yield_now();
                again()
            });
            assert!(back || std::thread::panicking(), "blkio is not mounted at {at} again");
        }
    }
}

/// Writes a value; false with the reason printed if this kernel has it not.
fn set(file: &Path, value: &str) -> bool {
    let done = fs::write(file, value);
    if let Err(error) = &done {
        println!("skipped: {}: {error}", file.display());
    }
    done.is_ok()
}

#[test]
fn faults_of_version_2() {
    let Some(mut machine) = Machine::new() else { return };
    let Some(v2) = Unified::new(&machine) else { return };
    let name = machine.name();
    let group = machine.group(&v2.top, &name);
    weights(&machine, &group);
    costs(&machine, &v2.top);
    groups(&mut machine, &name);
    latency(&mut machine, &v2.top);
    // The groups are gone before `io` is given back.
    drop(machine);
}

fn weights(machine: &Machine, group: &Path) {
    let disk = machine.disk();
    let unheeded = |it: &Cause| matches!(it, Cause::WeightsUnheeded { .. });
    if !set(&group.join("io.weight"), "200") || !machine.schedule(&disk, "none") {
        return;
    }
    about(&machine.found(), &disk, unheeded);
    if !machine.schedule(&disk, "bfq") {
        return;
    }
    let findings = machine.found();
    let other = about(&findings, &disk, |it| matches!(it, Cause::OtherWeight { .. }));
    run("sh", &["-c", &other.mend[0]]).unwrap();
    let is_about_weights = |it: &Cause| {
        unheeded(it) || matches!(it, Cause::OtherWeight { .. } | Cause::SystemdScale { .. })
    };
    let findings = machine.found();
    let left = faults_about(&findings, &[&disk, &machine.name()]);
    assert!(!left.iter().any(|it| is_about_weights(&it.cause)), "{left:#?}");
    // As systemd does it.
    assert!(set(&group.join("io.bfq.weight"), "109"));
    let findings = machine.found();
    let squeezed = about(&findings, &machine.name(), |it| matches!(it, Cause::SystemdScale { .. }));
    run("sh", &["-c", &squeezed.mend[0]]).unwrap();
    let weight = fs::read_to_string(group.join("io.bfq.weight")).unwrap();
    assert!(weight.contains("200"), "{weight}");
}

fn costs(machine: &Machine, top: &str) {
    let (disk, number) = (machine.disk(), machine.number());
    let qos = Path::new(top).join("io.cost.qos");
    if !machine.schedule(&disk, "none") || !set(&qos, &format!("{number} enable=1")) {
        return;
    }
    about(&machine.found(), &disk, |it| matches!(it, Cause::CostUnmeasured { .. }));
    let model = "ctrl=user model=linear rbps=1000000 rseqiops=1000 rrandiops=1000 wbps=1000000 \
                 wseqiops=1000 wrandiops=1000";
    assert!(set(&Path::new(top).join("io.cost.model"), &format!("{number} {model}")));
    let findings = machine.found();
    let left = faults_about(&findings, &[&disk]);
    let is_left = left.iter().any(|it| matches!(it.cause, Cause::CostUnmeasured { .. }));
    assert!(!is_left, "{left:#?}");
    if machine.schedule(&disk, "bfq") {
        let is_on = fs::read_to_string(&qos).unwrap();
        let is_on = is_on.lines().any(|it| it.starts_with(&number) && it.contains("enable=1"));
        if is_on {
            about(&machine.found(), &disk, |it| matches!(it, Cause::BfqAndCost { .. }));
        } else {
            println!("skipped: this kernel turns io.cost off for BFQ");
        }
    }
    assert!(set(&qos, &format!("{number} enable=0")));
}

fn groups(machine: &mut Machine, name: &str) {
    let top = mounts("cgroup2").pop().unwrap().0;
    let below = format!("{name}/below");
    machine.group(&top, &below);
    let findings = machine.findings(&format!("/dev/{}", machine.disk()), &[&below]);
    let fault = about(&findings, &below, |it| matches!(it, Cause::ParentWithoutIo { .. }));
    run("sh", &["-c", &fault.mend[0]]).unwrap();
    let findings = machine.findings(&format!("/dev/{}", machine.disk()), &[&below]);
    let is_fault = |it: &Cause| matches!(it, Cause::ParentWithoutIo { .. });
    assert!(!findings.iter().any(|it| is_fault(&it.cause)), "{findings:#?}");
}

fn latency(machine: &mut Machine, top: &str) {
    let unit = machine.unit(&format!("IODeviceLatencyTargetSec=/dev/{} 25ms", machine.disk()));
    let group = machine.group(top, &unit);
    if group.join("io.latency").exists() {
        println!("skipped: this kernel has io.latency");
        return;
    }
    about(&machine.found(), &unit, |it| matches!(it, Cause::LatencyUnsupported { .. }));
}
