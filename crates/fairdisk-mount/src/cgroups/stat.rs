//! The contents of `cfq.stat`: what a group got from each disk with mounts.

use crate::control::{self, Client, GroupEntry, LatencyCount, Status};
use crate::identity::Hierarchy;
use std::fmt::Write as _;
use std::time::Duration;

/// How long to wait for the answer of a daemon, which is left out if it gives none.
const PATIENCE: Duration = Duration::from_secs(1);

/// The status of each disk with mounts.
fn running() -> Vec<Status> {
    control::running().into_iter().filter_map(ask).collect()
}

fn ask(mut client: Client) -> Option<Status> {
    client.wait_no_longer_than(PATIENCE).ok()?;
    client.status().ok()
}

/// The mount points whose groups come from a hierarchy other than `name`, because they were mounted
/// before it.
#[must_use]
pub fn strangers(name: &str) -> Vec<String> {
    let others = running().into_iter().filter(|status| status.cgroups.as_deref() != Some(name));
    others.flat_map(|status| status.mounts).map(|mount| mount.mountpoint).collect()
}

/// The text of `cfq.stat`: one block for each disk whose groups come from `hierarchy`.
pub(super) fn text(hierarchy: &Hierarchy, group: &str) -> String {
    let mut text = String::new();
    for status in running() {
        if status.cgroups.as_deref() == Some(hierarchy.name()) {
            block(&mut text, &status, group);
        }
    }
    text
}

fn block(text: &mut String, status: &Status, group: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    let entry = status.groups.iter().find(|entry| entry.path == group);
    let count = |what: fn(&GroupEntry) -> u64| entry.map_or(0, what);
    let time = |what: fn(&GroupEntry) -> f64| entry.map_or(0.0, what);
    let requests = [
        ("requests", count(GroupEntry::requests)),
        ("reads", count(|entry| entry.reads)),
        ("writes", count(|entry| entry.writes)),
        ("discards", count(|entry| entry.discards)),
        ("flushes", count(|entry| entry.flushes)),
        ("errors", count(|entry| entry.errors)),
        ("read_bytes", count(|entry| entry.read_bytes)),
        ("written_bytes", count(|entry| entry.written_bytes)),
        ("discarded_bytes", count(|entry| entry.discarded_bytes)),
    ];
    let quantile = |percent| {
        let latency = entry.map_or(&[][..], |entry| &entry.latency);
        LatencyCount::quantile_ms(latency, percent).unwrap_or(0.0)
    };
    let times = [
        ("device_time_ms", time(|entry| entry.device_time_ms)),
        ("wait_longest_ms", time(|entry| entry.wait_max_ms)),
        ("latency_p50_ms", quantile(50)),
        ("latency_p99_ms", quantile(99)),
    ];
    for mount in &status.mounts {
        let _ = writeln!(text, "mount {}", mount.mountpoint);
    }
    let _ = writeln!(text, "group {group}");
    for (name, value) in requests {
        let _ = writeln!(text, "{name} {value}");
    }
    for (name, value) in times {
        let _ = writeln!(text, "{name} {value:.3}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mounting::mounts::MountEntry;

    #[test]
    fn a_group_that_asked_for_nothing_got_nothing() {
        let status = Status {
            schema: 2,
            disk: "sda".to_owned(),
            mounts: vec![MountEntry { source: "/a".to_owned(), mountpoint: "/b".to_owned() }],
            scheduler: "noop".to_owned(),
            tunables: Vec::new(),
            device_model: None,
            costs: None,
            io: None,
            depth: None,
            cgroups: Some("fairdisk".to_owned()),
            metrics: None,
            rules: None,
            uptime_s: 1.0,
            unattributed_writes: 0,
            groups: Vec::new(),
        };
        let mut text = String::new();
        block(&mut text, &status, "/test1");
        block(&mut text, &status, "/test1");
        assert!(text.starts_with("mount /b\ngroup /test1\nrequests 0\n"), "{text}");
        assert!(text.contains("\n\nmount /b\n") && text.ends_with("p99_ms 0.000\n"), "{text}");
    }
}
