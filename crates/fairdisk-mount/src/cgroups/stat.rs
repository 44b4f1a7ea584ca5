//! What a group got from each running mount, as text.

use crate::control::{Client, GroupEntry, LatencyCount, Status, directory, sockets};
use crate::identity::Hierarchy;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A mount that says nothing for so long is left out.
const PATIENCE: Duration = Duration::from_secs(1);

/// How the running mounts are doing.
fn running() -> Vec<Status> {
    let places = [directory(), PathBuf::from("/run/fairdisk")];
    let mut all: Vec<PathBuf> = places.iter().flat_map(|place| sockets(place)).collect();
    all.sort();
    all.dedup();
    all.iter().filter_map(|socket| ask(socket)).collect()
}

fn ask(socket: &Path) -> Option<Status> {
    let mut client = Client::connect(socket).ok()?;
    client.wait_no_longer_than(PATIENCE).ok()?;
    client.status().ok()
}

/// Mount points whose groups come from another hierarchy than `name`: they were mounted before it.
#[must_use]
pub fn strangers(name: &str) -> Vec<String> {
    let others = running().into_iter().filter(|status| status.cgroups.as_deref() != Some(name));
    others.map(|status| status.mountpoint).collect()
}

/// A block for each running mount that takes its groups from `hierarchy`.
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
        ("requests", count(|entry| entry.reads + entry.writes + entry.flushes)),
        ("reads", count(|entry| entry.reads)),
        ("writes", count(|entry| entry.writes)),
        ("flushes", count(|entry| entry.flushes)),
        ("errors", count(|entry| entry.errors)),
        ("read_bytes", count(|entry| entry.read_bytes)),
        ("written_bytes", count(|entry| entry.written_bytes)),
    ];
    let latency = entry.map_or(&[][..], |entry| &entry.latency);
    let times = [
        ("device_time_ms", time(|entry| entry.device_time_ms)),
        ("wait_longest_ms", time(|entry| entry.wait_max_ms)),
        ("latency_p50_ms", quantile(latency, 50)),
        ("latency_p99_ms", quantile(latency, 99)),
    ];
    let _ = writeln!(text, "mount {}\ngroup {group}", status.mountpoint);
    for (name, value) in requests {
        let _ = writeln!(text, "{name} {value}");
    }
    for (name, value) in times {
        let _ = writeln!(text, "{name} {value:.3}");
    }
}

/// What `percent` of the I/Os took at most, in milliseconds.
fn quantile(latency: &[LatencyCount], percent: u64) -> f64 {
    let total: u64 = latency.iter().map(|bucket| bucket.count).sum();
    let rank = (total * percent).div_ceil(100);
    let mut seen = 0;
    let found = latency.iter().find(|bucket| {
        seen += bucket.count;
        seen >= rank
    });
    found.map_or(0.0, |bucket| bucket.le_us as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_that_asked_for_nothing_got_nothing() {
        let status = Status {
            schema: 1,
            source: "/a".to_owned(),
            mountpoint: "/b".to_owned(),
            scheduler: "noop".to_owned(),
            device_model: None,
            cgroups: Some("fairdisk".to_owned()),
            uptime_s: 1.0,
            groups: Vec::new(),
        };
        let mut text = String::new();
        block(&mut text, &status, "/test1");
        block(&mut text, &status, "/test1");
        assert!(text.starts_with("mount /b\ngroup /test1\nrequests 0\n"), "{text}");
        assert!(text.contains("\n\nmount /b\n") && text.ends_with("p99_ms 0.000\n"), "{text}");
    }

    #[test]
    fn the_middle_is_found() {
        let bucket = |le_us, count| LatencyCount { le_us, count };
        let latency = [bucket(1000, 50), bucket(2000, 48), bucket(9000, 2)];
        assert_eq!((quantile(&latency, 50), quantile(&latency, 99)), (1.0, 9.0));
        assert_eq!(quantile(&[], 50), 0.0);
    }
}
