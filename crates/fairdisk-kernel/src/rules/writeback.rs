//! Rules about buffered writes: whom the kernel charges for them.

use super::place;
use crate::cause::Cause;
use crate::findings::{Finding, Place};
use crate::groups::{Group, Knob, Version};
use crate::mounts::{carrier, of_path};
use crate::snapshot::{Snapshot, Stack};

/// The file systems that charge writers for what is written back. Source:
/// Documentation/admin-guide/cgroup-v2.rst, "Writeback".
const CHARGES_WRITERS: [&str; 6] = ["ext2", "ext3", "ext4", "btrfs", "f2fs", "xfs"];

pub(super) fn check(snapshot: &Snapshot, stack: &Stack, findings: &mut Vec<Finding>) {
    let numbers: Vec<&str> = stack.layers.iter().map(|layer| layer.number.as_str()).collect();
    let concerns =
        |number: &Option<String>| number.as_deref().is_none_or(|number| numbers.contains(&number));
    let set_in = |group: &Group| -> Vec<Place> {
        let settings = group.settings.iter();
        let settings = settings.filter(|it| it.knob != Knob::ReadLimit && concerns(&it.number));
        settings.map(place).collect()
    };
    let of = |version: Version| -> Vec<(&Group, Vec<Place>)> {
        let groups = snapshot.trees.groups.iter().filter(|group| group.version == version);
        let groups = groups.map(|group| (group, set_in(group)));
        groups.filter(|(_, places)| !places.is_empty()).collect()
    };
    version1(&of(Version::V1), findings);
    let of_version2 = of(Version::V2);
    let places = || of_version2.iter().flat_map(|(_, places)| places.clone()).collect();
    if let Some(file_system) = charges_top(snapshot, stack).filter(|_| !of_version2.is_empty()) {
        let groups = of_version2.len();
        let cause = Cause::WritebackOfTop { file_system, at: stack.of.clone(), groups };
        findings.push(Finding::new(cause, places()));
        return;
    }
    for (group, places) in &of_version2 {
        findings.extend(without_memory(snapshot, group, places));
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

fn version1(groups: &[(&Group, Vec<Place>)], findings: &mut Vec<Finding>) {
    if groups.is_empty() {
        return;
    }
    let is_limit = |(group, _): &(&Group, Vec<Place>)| {
        group.settings.iter().any(|setting| setting.knob == Knob::WriteLimit)
    };
    let has_limit = groups.iter().any(is_limit);
    let cause = Cause::WritebackOfVersionOne { groups: groups.len(), has_limit };
    let places = groups.iter().flat_map(|(_, places)| places.clone()).collect();
    findings.push(Finding::new(cause, places));
}

fn without_memory(snapshot: &Snapshot, group: &Group, places: &[Place]) -> Option<Finding> {
    let has = |group: &Group, name: &str| group.controllers.iter().any(|one| one == name);
    let parent = snapshot.trees.parent(group)?;
    let is_fault = has(group, "io") && !has(group, "memory");
    let cause = Cause::WritebackWithoutMemory {
        group: group.path.clone(),
        parent: parent.directory.clone(),
    };
    let file = format!("{}/cgroup.controllers", group.directory);
    let controllers = Place::new(file, group.controllers.join(" "));
    let places = [controllers].into_iter().chain(places.iter().cloned()).collect();
    is_fault.then(|| Finding::new(cause, places))
}
