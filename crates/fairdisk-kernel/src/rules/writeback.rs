//! Rules about buffered writes: whom the kernel charges for them.

use super::place;
use crate::cause::Cause;
use crate::findings::{Finding, Place};
use crate::groups::{Group, Knob, Setting, Version};
use crate::mounts::{carrier, of_path};
use crate::snapshot::{Snapshot, Stack};

/// The file systems that charge writers for what is written back. Source:
/// Documentation/admin-guide/cgroup-v2.rst, "Writeback".
const CHARGES_WRITERS: [&str; 6] = ["ext2", "ext3", "ext4", "btrfs", "f2fs", "xfs"];

/// A group and its settings that concern what is written to a stack.
type Concerned<'a> = (&'a Group, Vec<&'a Setting>);

pub(super) fn check(snapshot: &Snapshot, stack: &Stack, findings: &mut Vec<Finding>) {
    let numbers: Vec<&str> = stack.layers.iter().map(|layer| layer.number.as_str()).collect();
    let concerns =
        |number: &Option<String>| number.as_deref().is_none_or(|number| numbers.contains(&number));
    let is_about_writes =
        |setting: &&Setting| setting.knob != Knob::ReadLimit && concerns(&setting.number);
    let of = |version: Version| -> Vec<Concerned> {
        let groups = snapshot.trees.groups.iter().filter(|group| group.version == version);
        let groups =
            groups.map(|group| (group, group.settings.iter().filter(is_about_writes).collect()));
        groups.filter(|(_, settings): &Concerned| !settings.is_empty()).collect()
    };
    version1(&of(Version::V1), findings);
    let of_version2 = of(Version::V2);
    let settings = of_version2.iter().flat_map(|(_, settings)| settings);
    if let Some(file_system) = charges_top(snapshot, stack).filter(|_| !of_version2.is_empty()) {
        let groups = of_version2.len();
        let cause = Cause::WritebackOfTop { file_system, at: stack.of.clone(), groups };
        findings.push(Finding::new(cause, settings.map(|setting| place(setting)).collect()));
        return;
    }
    for (group, settings) in &of_version2 {
        findings.extend(without_memory(snapshot, group, settings));
    }
}

/// The file system of a path on a disk, if it charges the top group.
fn charges_top(snapshot: &Snapshot, stack: &Stack) -> Option<String> {
    stack.file_system.as_ref()?;
    // An overlay writes to the file system of its upper directory.
    let mount = of_path(&snapshot.mounts, stack.of.as_ref())?;
    let file_system = carrier(&snapshot.mounts, mount)?.kind.clone();
    let charges_writers = CHARGES_WRITERS.contains(&file_system.as_str());
    (!charges_writers && !stack.layers.is_empty()).then_some(file_system)
}

fn version1(groups: &[Concerned], findings: &mut Vec<Finding>) {
    if groups.is_empty() {
        return;
    }
    let settings = || groups.iter().flat_map(|(_, settings)| settings);
    let has_limit = settings().any(|setting| setting.knob == Knob::WriteLimit);
    let cause = Cause::WritebackOfVersionOne { groups: groups.len(), has_limit };
    findings.push(Finding::new(cause, settings().map(|setting| place(setting)).collect()));
}

fn without_memory(snapshot: &Snapshot, group: &Group, settings: &[&Setting]) -> Option<Finding> {
    let has = |group: &Group, name: &str| group.controllers.iter().any(|one| one == name);
    let is_fault = has(group, "io") && !has(group, "memory") && group.path != "/";
    let above = snapshot.trees.above(group);
    // From the first group that has the controller, down to the one above this.
    let from = above.iter().position(|one| has(one, "memory"));
    let to_hand_on = from.map_or(&above[..0], |from| &above[..=from]).iter().rev();
    let cause = Cause::WritebackWithoutMemory {
        group: group.path.clone(),
        to_hand_on: to_hand_on.map(|one| one.directory.clone()).collect(),
    };
    let file = format!("{}/cgroup.controllers", group.directory);
    let controllers = Place::new(file, group.controllers.join(" "));
    let places =
        [controllers].into_iter().chain(settings.iter().map(|setting| place(setting))).collect();
    is_fault.then(|| Finding::new(cause, places))
}
