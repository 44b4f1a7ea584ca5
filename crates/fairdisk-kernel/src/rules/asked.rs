//! Rules about unit files: whether the kernel has what they ask for.

use super::fault_of_device;
use crate::cause::Cause;
use crate::findings::{Finding, Place};
use crate::groups::{Group, Version};
use crate::snapshot::Snapshot;
use crate::units::Ask;

/// The files in which a key ends up, in version 2.
fn files(key: &str) -> &'static [&'static str] {
    match key {
        "IOWeight" | "StartupIOWeight" => &["io.weight", "io.bfq.weight"],
        "IODeviceWeight" => &["io.weight"],
        "IOReadBandwidthMax" | "IOWriteBandwidthMax" | "IOReadIOPSMax" | "IOWriteIOPSMax" => {
            &["io.max"]
        }
        _ => &[],
    }
}

pub(super) fn check(snapshot: &Snapshot, findings: &mut Vec<Finding>) {
    for ask in &snapshot.asks {
        let place = Place::new(&ask.file, format!("{}={}", ask.key, ask.value));
        if let Some(cause) = fault(snapshot, ask) {
            findings.push(Finding::new(cause, vec![place]));
        }
    }
}

fn fault(snapshot: &Snapshot, ask: &Ask) -> Option<Cause> {
    let (unit, key) = (ask.unit.clone(), ask.key.clone());
    // systemd takes the path of any file for the disk that it is on.
    if let Some(device) = ask.device().filter(|device| device.starts_with("/dev/")) {
        let fault = fault_of_device(snapshot, device);
        if fault.is_some() {
            return fault;
        }
    }
    let trees = &snapshot.trees;
    let files = files(&ask.key);
    let is_latency = ask.key == "IODeviceLatencyTargetSec";
    if files.is_empty() && !is_latency {
        return None;
    }
    if ask.is_of_user {
        let group = group_of(snapshot, &ask.unit)?;
        let has_io = group.controllers.iter().any(|name| name == "io");
        return (!has_io).then_some(Cause::NotHandedToUsers { unit, key });
    }
    let group = group_of(snapshot, &ask.unit);
    if let Some(mount) = trees.v1.clone() {
        // systemd puts a unit's group into the tree of version 1 where it manages that one.
        let is_out = group.is_some_and(|group| group.version == Version::V2);
        return is_out.then_some(Cause::VersionOneHasIo { group: Some(unit), mount });
    }
    if is_latency {
        let some_group = trees.groups.iter().find(|it| has(it, "io") && it.path != "/")?;
        let file = format!("{}/io.latency", some_group.directory);
        let kernel = format!("{}.{}", snapshot.kernel.0, snapshot.kernel.1);
        return (!snapshot.root.exists(file)).then_some(Cause::LatencyUnsupported { unit, kernel });
    }
    // A unit that does not run has no group.
    let group = group?;
    let in_force = group
        .settings
        .iter()
        .any(|setting| files.iter().any(|name| setting.file.ends_with(&format!("/{name}"))));
    let is_usual = ask.value == "100";
    let file = format!("{}/{}", group.directory, files[0]);
    (!in_force && !is_usual).then_some(Cause::NotInForce { unit, key, file })
}

fn has(group: &Group, controller: &str) -> bool {
    group.controllers.iter().any(|name| name == controller)
}

/// The group of a unit that runs, in version 1 first.
fn group_of<'a>(snapshot: &'a Snapshot, unit: &str) -> Option<&'a Group> {
    let is_it = |group: &&Group| group.path.rsplit('/').next() == Some(unit);
    snapshot.trees.groups.iter().find(is_it)
}
