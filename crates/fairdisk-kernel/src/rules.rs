//! The rules by which settings are found to do nothing, or something else than they say.

mod asked;
mod priorities;
mod weights;
mod writeback;

use crate::cause::Cause;
use crate::findings::{Finding, Place};
use crate::groups::{Setting, Version};
use crate::snapshot::{Snapshot, Stack};

/// Checks the settings for the devices of some stacks, and those of the groups that are named.
/// The worst findings come first.
///
/// # Errors
/// There is no such group.
pub fn check(
    snapshot: &Snapshot,
    stacks: &[Stack],
    groups: &[String],
) -> Result<Vec<Finding>, String> {
    let mut findings: Vec<Finding> = Vec::new();
    for stack in stacks {
        weights::check(snapshot, stack, &mut findings);
        priorities::check(snapshot, stack, &mut findings);
        writeback::check(snapshot, stack, &mut findings);
        if let Some(file_system) = stack.file_system.clone().filter(|_| stack.layers.is_empty()) {
            let cause = Cause::NoDisk { at: stack.of.clone(), file_system };
            findings.push(Finding::new(cause, Vec::new()));
        }
    }
    devices(snapshot, &mut findings);
    asked::check(snapshot, &mut findings);
    trees(snapshot, groups, &mut findings)?;
    // What holds for several stacks is said once.
    let mut said: Vec<Finding> = Vec::new();
    for finding in findings {
        if !said.iter().any(|known| known.text == finding.text && known.places == finding.places) {
            said.push(finding);
        }
    }
    said.sort_by_key(|finding| finding.severity);
    Ok(said)
}

/// The place of a setting.
fn place(setting: &Setting) -> Place {
    Place::new(&setting.file, &setting.value)
}

/// Settings for devices that are parts of disks, or are not there.
fn devices(snapshot: &Snapshot, findings: &mut Vec<Finding>) {
    let settings = snapshot.trees.groups.iter().flat_map(|group| &group.settings);
    let settings = settings.filter_map(|it| Some((it.number.as_deref()?, place(it))));
    let cost = snapshot.trees.cost.iter();
    let cost = cost.map(|line| (line.number.as_str(), Place::new(&line.file, &line.line)));
    for (number, place) in settings.chain(cost) {
        if let Some(cause) = fault_of_device(snapshot, number) {
            findings.push(Finding::new(cause, vec![place]));
        }
    }
}

/// The fault of a setting for this device, given by number or path.
fn fault_of_device(snapshot: &Snapshot, device: &str) -> Option<Cause> {
    let by_path = || snapshot.blocks.named(&snapshot.root, device.as_ref());
    match snapshot.blocks.numbered(device).or_else(by_path) {
        None => Some(Cause::DiskGone { device: device.to_owned() }),
        Some(block) if block.kind == crate::Kind::Partition => Some(Cause::OnPartition {
            device: block.name.clone(),
            disk: block.below.first().cloned().unwrap_or_default(),
        }),
        Some(_) => None,
    }
}

/// Whether groups have the controller at all.
fn trees(
    snapshot: &Snapshot,
    groups: &[String],
    findings: &mut Vec<Finding>,
) -> Result<(), String> {
    let trees = &snapshot.trees;
    for name in groups {
        let group = trees.group(name).ok_or_else(|| format!("{name}: no such cgroup"))?;
        if group.version == Version::V1 || group.path == "/" {
            continue;
        }
        if let Some(mount) = trees.v1.clone() {
            let cause = Cause::VersionOneHasIo { group: Some(group.path.clone()), mount };
            let file = format!("{}/cgroup.controllers", group.directory);
            let place = Place::new(file, group.controllers.join(" "));
            findings.push(Finding::new(cause, vec![place]));
            continue;
        }
        // A group can hand on only what is handed to it: the topmost is mended first.
        let above = trees.above(group).into_iter().rev();
        for parent in above.filter(|parent| !parent.hands_on.iter().any(|name| name == "io")) {
            let file = format!("{}/cgroup.subtree_control", parent.directory);
            let place = Place::new(file, parent.hands_on.join(" "));
            let cause = Cause::ParentWithoutIo {
                group: group.path.clone(),
                parent: parent.directory.clone(),
                has_tasks: parent.has_tasks && parent.path != "/",
            };
            findings.push(Finding::new(cause, vec![place]));
        }
    }
    if let (Some(mount), Some(v2)) = (trees.v1.clone(), &trees.v2) {
        let file = format!("{v2}/cgroup.controllers");
        let value = snapshot.root.text(&file).unwrap_or_default();
        let cause = Cause::VersionOneHasIo { group: None, mount };
        findings.push(Finding::new(cause, vec![Place::new(file, value)]));
    }
    Ok(())
}
