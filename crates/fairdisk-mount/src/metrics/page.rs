//! What is told: the mount, its groups, and the process that serves it.

use super::text::{Kind, Label, Text};
use crate::control::About;
use crate::mounted::Watch;
use crate::scheduled::{GroupStatus, ScheduledGate};
use fairdisk_core::{GroupAccount, Histogram, Share, Span};
use std::fs;
use std::sync::Arc;

/// The shortest and the longest latency with a bucket of its own, as powers of two in nanoseconds:
/// from 16 µs to 34 s, each twice the one before.
const BUCKETS: std::ops::RangeInclusive<u32> = 14..=35;

/// Makes the page of one mount.
#[derive(Clone)]
pub struct Page {
    gate: Arc<ScheduledGate>,
    about: About,
    watch: Watch,
}

impl std::fmt::Debug for Page {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Page").field("about", &self.about).finish_non_exhaustive()
    }
}

/// A family of one number for each group.
type Family = (&'static str, Kind, &'static str, fn(&GroupAccount) -> f64);

const FAMILIES: [Family; 6] = [
    (
        "fairdisk_group_errors_total",
        Kind::Counter,
        "Operations of the group that failed.",
        |account| account.errors as f64,
    ),
    (
        "fairdisk_group_device_requests_total",
        Kind::Counter,
        "Requests of the group that the disk finished; several operations may be one of them.",
        |account| account.device_requests as f64,
    ),
    (
        "fairdisk_group_device_seconds_total",
        Kind::Counter,
        "How long the disk was busy for the group.",
        |account| seconds(account.device_time),
    ),
    (
        "fairdisk_group_longest_wait_seconds",
        Kind::Gauge,
        "The longest any operation of the group waited for the disk since the mount.",
        |account| seconds(account.wait_max),
    ),
    (
        "fairdisk_group_slot_waits_total",
        Kind::Counter,
        "How often an operation of the group waited for a request slot.",
        |account| account.slot_waits as f64,
    ),
    (
        "fairdisk_group_slot_wait_seconds_total",
        Kind::Counter,
        "How long operations of the group waited for request slots, all together.",
        |account| seconds(account.slot_wait_time),
    ),
];

impl Page {
    /// The page of the mount behind `gate`.
    #[must_use]
    pub const fn new(gate: Arc<ScheduledGate>, about: About, watch: Watch) -> Self {
        Self { gate, about, watch }
    }

    /// How everything is now.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = Text::default();
        let groups = self.gate.groups();
        self.mount(&mut text);
        operations(&mut text, &groups);
        for (name, kind, help, value) in FAMILIES {
            text.family(name, kind, help);
            for group in &groups {
                text.sample(&[("group", &group.path)], value(&group.account));
            }
        }
        latency(&mut text, &groups);
        self.present(&mut text, &groups);
        process(&mut text);
        text.into_string()
    }

    fn mount(&self, text: &mut Text) {
        let about = &self.about;
        text.family("fairdisk_build_info", Kind::Gauge, "The version, as a label.");
        text.sample(&[("version", env!("CARGO_PKG_VERSION"))], 1);
        text.family("fairdisk_mount_info", Kind::Gauge, "What is mounted where, as labels.");
        let (source, mountpoint) =
            (about.source.to_string_lossy(), about.mountpoint.to_string_lossy());
        let labels = [
            ("source", &*source),
            ("mountpoint", &*mountpoint),
            ("cgroups", self.gate.hierarchy().map_or("", |hierarchy| hierarchy.name())),
            ("device_model", about.device_model.as_deref().unwrap_or_default()),
        ];
        text.sample(&labels, 1);
        text.family("fairdisk_scheduler_info", Kind::Gauge, "The scheduler, as a label.");
        text.sample(&[("scheduler", self.gate.scheduler())], 1);
        text.family("fairdisk_uptime_seconds", Kind::Gauge, "The time since the mount.");
        text.sample(&[], self.gate.now().as_ns() as f64 / 1e9);
        let counts = self.watch.counts();
        text.family(
            "fairdisk_held_back_writes_total",
            Kind::Counter,
            "Writes that waited because their group was at its limit of dirty data.",
        );
        text.sample(&[], counts.held_back);
        text.family(
            "fairdisk_unattributed_writes_total",
            Kind::Counter,
            "Writes that came from no task (memory maps), charged to the last user of their file.",
        );
        text.sample(&[], counts.orphan_writes);
        text.family("fairdisk_known_files", Kind::Gauge, "Files the kernel knows.");
        text.sample(&[], counts.nodes);
        text.family(
            "fairdisk_dirty_limit_bytes",
            Kind::Gauge,
            "What a group may have written and not yet on the disk before its writers wait.",
        );
        text.sample(&[], self.watch.dirty_limit());
    }

    /// How groups are at this moment.
    fn present(&self, text: &mut Text, groups: &[GroupStatus]) {
        let dirty = self.watch.dirty();
        let mut family = |name, help, value: &dyn Fn(&GroupStatus) -> Option<u64>| {
            text.family(name, Kind::Gauge, help);
            for group in groups {
                if let Some(value) = value(group) {
                    text.sample(&[("group", &group.path)], value);
                }
            }
        };
        let weight = |group: &GroupStatus| group.share.weight(self.gate.weight_map()).get().into();
        family("fairdisk_group_weight", "What the group asks for, 1 to 10000.", &|group| {
            Some(weight(group))
        });
        family(
            "fairdisk_group_ioprio",
            "The group priority, 0 (high) to 7, where that is what was asked for.",
            &|group| match group.share {
                Share::Priority(priority) => Some(priority.into()),
                Share::Weight(_) => None,
            },
        );
        family("fairdisk_group_queued_requests", "Requests that wait for the disk.", &|group| {
            Some(group.load.queued.into())
        });
        family("fairdisk_group_in_flight_requests", "Requests at the disk.", &|group| {
            Some(group.load.in_flight.into())
        });
        family(
            "fairdisk_group_dirty_bytes",
            "What the group has written and is not yet on the disk.",
            &|group| Some(dirty.get(&group.id.0).copied().unwrap_or(0)),
        );
    }
}

fn seconds(span: Span) -> f64 {
    span.as_ns() as f64 / 1e9
}

fn operations(text: &mut Text, groups: &[GroupStatus]) {
    text.family(
        "fairdisk_group_requests_total",
        Kind::Counter,
        "Operations of the group that finished.",
    );
    for GroupStatus { path, account, .. } in groups {
        let kinds =
            [("read", account.reads), ("write", account.writes), ("flush", account.flushes)];
        for (op, count) in kinds {
            text.sample(&[("group", path), ("op", op)], count);
        }
    }
    text.family("fairdisk_group_bytes_total", Kind::Counter, "Bytes the group read and wrote.");
    for GroupStatus { path, account, .. } in groups {
        for (op, bytes) in [("read", account.read_bytes), ("write", account.written_bytes)] {
            text.sample(&[("group", path), ("op", op)], bytes);
        }
    }
}

fn latency(text: &mut Text, groups: &[GroupStatus]) {
    text.family(
        "fairdisk_group_latency_seconds",
        Kind::Histogram,
        "From the asking to the answer. A bucket ends where one of our finer ones does.",
    );
    for group in groups {
        let (path, latency) = (&group.path, &group.account.latency);
        let label: Label<'_> = ("group", path);
        for (end, count) in cumulative(latency) {
            text.part("_bucket", &[label, ("le", &seconds(end).to_string())], count);
        }
        text.part("_bucket", &[label, ("le", "+Inf")], latency.count());
        text.part("_sum", &[label], seconds(latency.sum()));
        text.part("_count", &[label], latency.count());
    }
}

/// How many were no longer than each end. The ends are those of buckets: nothing is guessed.
fn cumulative(latency: &Histogram) -> Vec<(Span, u64)> {
    let mut fine = latency.buckets().peekable();
    let mut count = 0;
    let ends = BUCKETS.map(|power| Span::from_ns((1 << power) - 1));
    let at = |end: Span| {
        while let Some((_, more)) = fine.next_if(|(to, _)| *to <= end) {
            count += more;
        }
        (end, count)
    };
    ends.map(at).collect()
}

/// The process itself, under the names all exporters use.
fn process(text: &mut Text) {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident = status.lines().find_map(|line| {
        let value = line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?;
        value.parse::<u64>().ok()
    });
    if let Some(kib) = resident {
        text.family("process_resident_memory_bytes", Kind::Gauge, "Memory in use.");
        text.sample(&[], kib << 10);
    }
    if let Ok(open) = fs::read_dir("/proc/self/fd") {
        text.family("process_open_fds", Kind::Gauge, "Open file descriptors.");
        text.sample(&[], open.count());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_latency_is_in_the_buckets_that_are_long_enough() {
        let mut latency = Histogram::default();
        let spans = [0, 1, 16_383, 16_384, 5_000_000, 34_359_738_367, 34_359_738_368, 1 << 50];
        for ns in spans {
            latency.record(Span::from_ns(ns));
        }
        let buckets = cumulative(&latency);
        assert_eq!(buckets.len(), 22);
        for (end, count) in buckets {
            let shorter = spans.iter().filter(|ns| Span::from_ns(**ns) <= end).count();
            assert_eq!(count, shorter as u64, "{end:?}");
        }
    }
}
