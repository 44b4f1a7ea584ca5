//! The page of metrics: the mounts on a disk, its groups, and the daemon process.

use super::families::{Families, Kind, Label};
use crate::data::scheduled::GroupStatus;
use crate::identity::Asks;
use crate::mounting::mounted::Watch;
use crate::mounting::mounts::{MountEntry, Mounts};
use fairdisk_core::{GroupAccount, GroupId, Histogram, OpAccount, OpKind, QosKey, Share, Span};
use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

/// The ends of the latency buckets, as powers of two in nanoseconds: from 16 µs to 34 s, each twice
/// as long as the one before.
const BUCKETS: std::ops::RangeInclusive<u32> = 14..=35;

/// Generates the page of one disk.
#[derive(Clone, Debug)]
pub struct Page {
    mounts: Arc<Mounts>,
    device_model: Option<String>,
    disk: String,
}

/// A metric family with one number per group.
type Family = (&'static str, Kind, &'static str, fn(&GroupAccount) -> f64);

const FAMILIES: [Family; 5] = [
    (
        "fairdisk_group_errors_total",
        Kind::COUNTER,
        "Operations of the group that failed.",
        |account| account.errors as f64,
    ),
    (
        "fairdisk_group_device_requests_total",
        Kind::COUNTER,
        "Requests of the group that the disk finished; several operations may be one of them.",
        |account| account.device_requests as f64,
    ),
    (
        "fairdisk_group_device_seconds_total",
        Kind::COUNTER,
        "How long the disk was busy for the group.",
        |account| seconds(account.device_time),
    ),
    (
        "fairdisk_group_slot_waits_total",
        Kind::COUNTER,
        "How often an operation of the group waited for a request slot.",
        |account| account.slot_waits as f64,
    ),
    (
        "fairdisk_group_slot_wait_seconds_total",
        Kind::COUNTER,
        "How long operations of the group waited for request slots, all together.",
        |account| seconds(account.slot_wait_time),
    ),
];

/// A metric family with one number per mount.
type MountFamily = (&'static str, Kind, &'static str, fn(&Watch) -> u64);

const MOUNT_FAMILIES: [MountFamily; 4] = [
    (
        "fairdisk_held_back_writes_total",
        Kind::COUNTER,
        "Writes that waited because their group was at its limit of dirty data.",
        |watch| watch.counts().held_back,
    ),
    (
        "fairdisk_unattributed_writes_total",
        Kind::COUNTER,
        "Writes that came from no task (memory maps), charged to the last user of their file.",
        |watch| watch.counts().orphan_writes,
    ),
    ("fairdisk_known_files", Kind::GAUGE, "Files the kernel knows.", |watch| watch.counts().nodes),
    (
        "fairdisk_dirty_limit_bytes",
        Kind::GAUGE,
        "What a group may have written and not yet on the disk before its writers wait.",
        Watch::dirty_limit,
    ),
];

impl Page {
    /// The page of the disk that the kernel calls `disk`, with `mounts`, at the pace of
    /// `device_model` if there is one.
    #[must_use]
    pub const fn new(mounts: Arc<Mounts>, device_model: Option<String>, disk: String) -> Self {
        Self { mounts, device_model, disk }
    }

    /// The current page.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = Families::default();
        let gate = self.mounts.gate();
        let (mounts, groups) = (self.mounts.watches(), gate.groups());
        text.family("fairdisk_build_info", Kind::GAUGE, "The version, as a label.");
        text.sample(&[("version", env!("CARGO_PKG_VERSION"))], 1.0);
        text.disk = Some(self.disk.clone());
        text.family("fairdisk_scheduler_info", Kind::GAUGE, "The scheduler, as a label.");
        text.sample(&[("scheduler", &gate.scheduler())], 1.0);
        text.family("fairdisk_uptime_seconds", Kind::GAUGE, "The time since the first mount.");
        text.sample(&[], gate.now().as_ns() as f64 / 1e9);
        self.mounts(&mut text, &mounts);
        operations(&mut text, &groups);
        for (name, kind, help, value) in FAMILIES {
            text.family(name, kind, help);
            for group in &groups {
                text.sample(&[("group", &group.path)], value(&group.account));
            }
        }
        longest_waits(&mut text, &groups);
        latency(&mut text, &groups);
        flush_waits(&mut text, &groups);
        self.present(&mut text, &mounts, &groups);
        limits(&mut text, &groups);
        text.disk = None;
        process(&mut text);
        text.into_text()
    }

    fn mounts(&self, text: &mut Families, mounts: &[(MountEntry, Watch)]) {
        text.family("fairdisk_mount_info", Kind::GAUGE, "What is mounted where, as labels.");
        let cgroups = self.mounts.gate().hierarchy().map_or("", |hierarchy| hierarchy.name());
        for (mount, _) in mounts {
            let labels = [
                ("source", &*mount.source),
                ("mountpoint", &mount.mountpoint),
                ("cgroups", cgroups),
                ("device_model", self.device_model.as_deref().unwrap_or_default()),
            ];
            text.sample(&labels, 1.0);
        }
        for (name, kind, help, value) in MOUNT_FAMILIES {
            text.family(name, kind, help);
            for (mount, watch) in mounts {
                text.sample(&[("mountpoint", &mount.mountpoint)], value(watch) as f64);
            }
        }
    }

    /// The gauges of groups: settings, queues and dirty data.
    fn present(&self, text: &mut Families, mounts: &[(MountEntry, Watch)], groups: &[GroupStatus]) {
        let mut dirty: BTreeMap<u32, u64> = BTreeMap::new();
        for (group, bytes) in mounts.iter().flat_map(|(_, watch)| watch.dirty()) {
            let charged = self.mounts.gate().heir(GroupId(group));
            *dirty.entry(charged.0).or_default() += bytes;
        }
        let mut family = |name, help, value: &dyn Fn(&GroupStatus) -> Option<f64>| {
            text.family(name, Kind::GAUGE, help);
            for group in groups {
                if let Some(value) = value(group) {
                    text.sample(&[("group", &group.path)], value);
                }
            }
        };
        let weight = |group: &GroupStatus| group.asks.share.weight(Asks::WEIGHTS).get();
        family("fairdisk_group_weight", "What the group asks for, 1 to 10000.", &|group| {
            Some(f64::from(weight(group)))
        });
        family(
            "fairdisk_group_ioprio",
            "The group priority, 0 (high) to 7, where that is what was asked for.",
            &|group| match group.asks.share {
                Share::DEFAULT | Share::Weight(_) => None,
                Share::Priority(priority) => Some(f64::from(priority)),
            },
        );
        family(
            "fairdisk_group_idle_seconds",
            "How long the disk is kept for a group with nothing queued, where that was said.",
            &|group| group.asks.idle.map(seconds),
        );
        family("fairdisk_group_queued_requests", "Requests that wait for the disk.", &|group| {
            Some(f64::from(group.load.queued))
        });
        family("fairdisk_group_in_flight_requests", "Requests at the disk.", &|group| {
            Some(f64::from(group.load.in_flight))
        });
        family(
            "fairdisk_group_dirty_bytes",
            "What the group has written and is not yet on the disk.",
            &|group| Some(dirty.get(&group.id.0).copied().unwrap_or(0) as f64),
        );
    }
}

/// What groups are promised, and which floors the scheduler refused.
fn limits(text: &mut Families, groups: &[GroupStatus]) {
    let help = "Floors and ceilings, in I/Os or bytes a second.";
    text.family("fairdisk_group_limit", Kind::GAUGE, help);
    let settings = || groups.iter().flat_map(|it| it.asks.qos.settings().map(move |one| (it, one)));
    for (group, (key, value)) in settings().filter(|(_, (key, _))| key.notation().unit == 1) {
        text.sample(&[("group", &group.path), ("limit", key.name())], value as f64);
    }
    let help = "Within how long 99 of 100 operations are to be done.";
    text.family("fairdisk_group_target_seconds", Kind::GAUGE, help);
    for (group, (key, value)) in settings() {
        let op = match key {
            QosKey::LatencyP99 => "io",
            QosKey::FsyncP99 => "flush",
            _ => continue,
        };
        text.sample(&[("group", &group.path), ("op", op)], value as f64 / 1e9);
    }
    let help = "Whether the scheduler refused a floor that the group asks for.";
    text.family("fairdisk_group_floor_refused", Kind::GAUGE, help);
    for group in groups {
        text.sample(&[("group", &group.path)], f64::from(!group.refused.is_none()));
    }
}

fn seconds(span: Span) -> f64 {
    span.as_ns() as f64 / 1e9
}

fn operations(text: &mut Families, groups: &[GroupStatus]) {
    let help = "Operations of the group that finished.";
    text.family("fairdisk_group_requests_total", Kind::COUNTER, help);
    by_operation(text, groups, |_, op| Some(op.ios() as f64));
    let help = "Bytes the group read, wrote and discarded.";
    text.family("fairdisk_group_bytes_total", Kind::COUNTER, help);
    by_operation(text, groups, |kind, op| (kind != OpKind::Flush).then_some(op.bytes as f64));
}

fn longest_waits(text: &mut Families, groups: &[GroupStatus]) {
    let help = "The longest any operation of the group waited for the disk in the last half minute to \
                minute, or waits now.";
    text.family("fairdisk_group_longest_wait_seconds", Kind::GAUGE, help);
    by_operation(text, groups, |_, op| Some(seconds(op.lately.longest())));
}

/// A sample of each group and kind of operation that has a value.
fn by_operation(
    text: &mut Families,
    groups: &[GroupStatus],
    value: impl Fn(OpKind, &OpAccount) -> Option<f64>,
) {
    for GroupStatus { path, account, .. } in groups {
        for (kind, op) in account.ops.iter() {
            if let Some(value) = value(kind, op) {
                text.sample(&[("group", path), ("op", kind.name())], value);
            }
        }
    }
}

fn latency(text: &mut Families, groups: &[GroupStatus]) {
    text.family(
        "fairdisk_group_latency_seconds",
        Kind::HISTOGRAM,
        "From the asking to the answer. A bucket ends where one of our finer ones does.",
    );
    for GroupStatus { path, account, flushes, .. } in groups {
        for (kind, op) in account.ops.iter() {
            let latency = if kind == OpKind::Flush { &flushes.total } else { &op.latency };
            histogram(text, [("group", path), ("op", kind.name())], latency);
        }
    }
}

fn flush_waits(text: &mut Families, groups: &[GroupStatus]) {
    text.family(
        "fairdisk_group_flush_wait_seconds",
        Kind::HISTOGRAM,
        "What flushes waited for: data of their own, the scheduler, the fsync of the source.",
    );
    for GroupStatus { path, flushes, .. } in groups {
        let parts = [
            ("own_data", &flushes.own_data),
            ("scheduler", &flushes.scheduler),
            ("source", &flushes.device),
        ];
        for (part, waits) in parts {
            histogram(text, [("group", path), ("for", part)], waits);
        }
    }
}

/// A histogram with these labels, of the current family.
fn histogram(text: &mut Families, labels: [Label<'_>; 2], latency: &Histogram) {
    let buckets = cumulative(latency).into_iter().map(|(end, count)| (seconds(end), count));
    text.histogram(&labels, buckets, (latency.count(), seconds(latency.sum())));
}

/// For each bucket, the number of latencies not longer than its end. The ends coincide with those
/// of buckets of the finer histogram, so that the counts are exact.
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

/// Metrics of this process, under the names that all exporters use.
fn process(text: &mut Families) {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident = status.lines().find_map(|line| {
        let value = line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?;
        value.parse::<u64>().ok()
    });
    if let Some(kib) = resident {
        text.family("process_resident_memory_bytes", Kind::GAUGE, "Memory in use.");
        text.sample(&[], (kib << 10) as f64);
    }
    if let Ok(open) = fs::read_dir("/proc/self/fd") {
        text.family("process_open_fds", Kind::GAUGE, "Open file descriptors.");
        text.sample(&[], open.count() as f64);
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
