//! What `fairdisk top --json` prints: rates between two looks, with shares from 0 to 1.

use super::rates::{Row, longest};
use fairdisk_mount::MountEntry;
use fairdisk_mount::control::{FlushWaits, Latency, QosEntry, Status, WaitEntry};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Another number when a name changes its meaning or goes. 2: `mb_per_s` and the like in place of
/// bytes.
const SCHEMA_OF_TOP: u32 = 2;

/// What a disk did between two looks.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct TopResults<'a> {
    /// Another number if a name changes its meaning.
    schema: u32,
    /// The kernel's name of the disk.
    disk: &'a str,
    /// The mounts on the disk.
    mounts: &'a [MountEntry],
    /// The scheduler.
    scheduler: &'a str,
    /// How many requests the disk gets at once.
    depth: Option<u32>,
    /// The time since the first mount.
    uptime_s: f64,
    /// Writes without a task, charged to the last user of their file.
    unattributed_writes: u64,
    /// The time between the looks.
    duration_s: f64,
    /// The groups.
    groups: Vec<Group<'a>>,
}

/// What a group got.
#[derive(Debug, Serialize, JsonSchema)]
struct Group<'a> {
    /// The path of its cgroup.
    name: &'a str,
    /// Its weight.
    weight: u32,
    /// The part of the disk to which it is entitled, 0 to 1.
    asked: f64,
    /// The part that it got of the disk's time that all groups got together.
    got: f64,
    /// What it got over what it asked for; null if it asked for nothing.
    got_of_asked: Option<f64>,
    /// For which part of that time the disk worked on its writes after it had acknowledged them.
    deferred_share: f64,
    ios_per_s: f64,
    /// Millions of bytes a second, read and written.
    mb_per_s: f64,
    read_mb_per_s: f64,
    write_mb_per_s: f64,
    latency_ms: LatencyMs,
    /// Operations of each kind of which there were any: `read`, `write`, `discard`, `fsync`.
    ops: BTreeMap<&'static str, Operations>,
    flush_waits_ms: FlushWaitsMs,
    /// Why it waited in the last second, the commonest reason first.
    waits: &'a [WaitEntry],
    /// Requests that wait for the disk.
    queued: u32,
    /// Requests at the disk.
    in_flight: u32,
    /// Failed I/Os since the start of the mount.
    errors: u64,
    /// Its floors, ceilings and targets.
    limits: QosEntry,
    /// The keys of settings that the scheduler ignores.
    ignored: &'a [String],
    /// The floor that the scheduler refused.
    refused: &'a [String],
    /// Whether its floor was promised without an examination.
    unexamined: bool,
}

/// How long operations took in milliseconds; null without any.
#[derive(Debug, Serialize, JsonSchema)]
struct LatencyMs {
    /// Half of them took at most this long.
    p50: Option<f64>,
    /// 99 of 100 took at most this long.
    p99: Option<f64>,
    /// The longest, with the age of the oldest that is outstanding.
    max: Option<f64>,
}

/// Operations of one kind.
#[derive(Debug, Serialize, JsonSchema)]
struct Operations {
    #[serde(flatten)]
    latency_ms: LatencyMs,
    /// How many a second.
    per_s: f64,
}

/// What flushes waited for, one after another.
#[derive(Debug, Serialize, JsonSchema)]
struct FlushWaitsMs {
    /// The data that their files had dirty.
    own_data: LatencyMs,
    /// The scheduler.
    scheduler: LatencyMs,
    /// The `fsync` of SOURCE.
    source: LatencyMs,
}

impl<'a> TopResults<'a> {
    /// What happened from `before` to `after`, of which these are the rows.
    pub(super) fn new(before: &Status, after: &'a Status, rows: &'a [Row]) -> Self {
        let duration_s = after.uptime_s - before.uptime_s;
        Self {
            schema: SCHEMA_OF_TOP,
            disk: &after.disk,
            mounts: &after.mounts,
            scheduler: &after.scheduler,
            depth: after.depth,
            uptime_s: after.uptime_s,
            unattributed_writes: after.unattributed_writes,
            duration_s,
            groups: rows.iter().map(|row| Group::of(row, duration_s.max(1e-3))).collect(),
        }
    }
}

impl<'a> Group<'a> {
    fn of(row: &'a Row, seconds: f64) -> Self {
        let some = row.ops.iter().filter(|(_, latency)| latency.count > 0);
        let operations = |(kind, latency): (&'static str, &Latency)| {
            let per_s = latency.count as f64 / seconds;
            (kind, Operations { latency_ms: LatencyMs::of(latency, 0.0), per_s })
        };
        let [read, write] = row.ways.map(|way| way.bytes_per_s / 1e6);
        Self {
            name: &row.path,
            weight: row.weight,
            asked: row.asked / 100.0,
            got: row.got / 100.0,
            got_of_asked: (row.asked > 0.0).then(|| row.got / row.asked),
            deferred_share: row.later / 100.0,
            ios_per_s: row.ios_per_s,
            mb_per_s: row.mb_per_s,
            read_mb_per_s: read,
            write_mb_per_s: write,
            latency_ms: LatencyMs::of(&row.ops.all(), row.oldest_ms),
            ops: some.map(operations).collect(),
            flush_waits_ms: (&row.flush_waits).into(),
            waits: &row.waits,
            queued: row.queued,
            in_flight: row.in_flight,
            errors: row.errors,
            limits: row.qos,
            ignored: &row.ignored,
            refused: &row.refused,
            unexamined: row.unexamined,
        }
    }
}

impl LatencyMs {
    fn of(latency: &Latency, oldest_ms: f64) -> Self {
        let max = longest(latency, oldest_ms);
        Self { p50: latency.p50_ms, p99: latency.p99_ms, max }
    }
}

impl From<&FlushWaits> for FlushWaitsMs {
    fn from(waits: &FlushWaits) -> Self {
        let FlushWaits { own_data, scheduler, source } = waits;
        let [own_data, scheduler, source] =
            [own_data, scheduler, source].map(|latency| LatencyMs::of(latency, 0.0));
        Self { own_data, scheduler, source }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rates::tests::row;
    use super::*;
    use fairdisk_lab::results::value;

    #[test]
    fn what_is_refused_or_not_examined_is_told() {
        let refused = vec!["min_iops=9".to_owned()];
        let group = value(&Group::of(&Row { refused, unexamined: true, ..row("/a", 100) }, 1.0));
        assert_eq!(
            (&group["refused"][0], &group["unexamined"]),
            (&"min_iops=9".into(), &true.into())
        );
    }
}
