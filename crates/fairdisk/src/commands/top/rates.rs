//! The rates of each group, computed from two looks at a mount.

use super::asked;
use crate::commands::limits::limits;
use clap::ValueEnum;
use fairdisk_mount::control::{
    FlushWaits, GroupEntry, Latencies, Latency, QosEntry, Status, WaitEntry,
};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// What a group got between two looks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) path: String,
    /// The path of the enclosing group.
    pub(super) parent: Option<String>,
    pub(super) weight: u32,
    /// The priority, if the share was given as one.
    pub(super) ioprio: Option<u8>,
    /// The group's share in percent, by the weights of all groups that used the disk or have
    /// requests.
    pub(super) asked: f64,
    /// The group's share of the disk's time, in percent.
    pub(super) got: f64,
    /// For how long the disk worked on the group's writes after it had acknowledged them, in
    /// percent of the time that all groups got.
    pub(super) later: f64,
    pub(super) ios_per_s: f64,
    pub(super) mb_per_s: f64,
    /// Reads alone, and writes alone.
    pub(super) ways: [Way; 2],
    /// How long operations took that were answered since the first look.
    pub(super) ops: Latencies,
    /// What flushes among them waited for.
    pub(super) flush_waits: FlushWaits,
    /// The age in ms of the oldest operation that is still outstanding.
    pub(super) oldest_ms: f64,
    /// Why the group waited in the last second, the commonest reason first.
    pub(super) waits: Vec<WaitEntry>,
    /// Requests that wait for the disk, at the second look.
    pub(super) queued: u32,
    /// Requests at the disk, at the second look.
    pub(super) in_flight: u32,
    /// Failed I/Os since the start of the mount.
    pub(super) errors: u64,
    /// The group's settings beside its weight, in words.
    pub(super) limits: Vec<String>,
    /// The group's limits and targets, for JSON.
    pub(super) qos: QosEntry,
    pub(super) ignored: Vec<String>,
    /// The floor that the scheduler refused, in the syntax of `ctl set`.
    pub(super) refused: Vec<String>,
    /// Whether the floor was promised without an examination.
    pub(super) unexamined: bool,
}

/// What a group got of operations of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Way {
    pub(super) ios_per_s: f64,
    pub(super) bytes_per_s: f64,
}

impl Row {
    /// Whether the group misses a target that it has.
    pub(super) fn misses_target(&self) -> bool {
        let misses = |asked: Option<f64>, got: Option<f64>| {
            asked.zip(got).is_some_and(|(asked, got)| got > asked)
        };
        misses(self.qos.latency_p99_ms, self.ops.ios().p99_ms)
            || misses(self.qos.fsync_p99_ms, self.ops.flush.p99_ms)
    }
}

/// The column that rows are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(in crate::commands) enum SortBy {
    /// The part of the disk's time
    #[default]
    Got,
    /// I/Os a second
    Ios,
    /// Bytes a second
    Bytes,
    /// The 99th percentile
    #[value(name = "p99")]
    Latency,
    /// The path
    Name,
}

impl SortBy {
    pub(super) const fn next(self) -> Self {
        match self {
            Self::Got => Self::Ios,
            Self::Ios => Self::Bytes,
            Self::Bytes => Self::Latency,
            Self::Latency => Self::Name,
            Self::Name => Self::Got,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Got => "time got",
            Self::Ios => "I/Os",
            Self::Bytes => "bytes",
            Self::Latency => "p99",
            Self::Name => "name",
        }
    }

    fn order(self, a: &Row, b: &Row) -> Ordering {
        let largest_first = |value: fn(&Row) -> f64| value(b).total_cmp(&value(a));
        let by_value = match self {
            Self::Got => largest_first(|row| row.got),
            Self::Ios => largest_first(|row| row.ios_per_s),
            Self::Bytes => largest_first(|row| row.mb_per_s),
            Self::Latency => largest_first(|row| row.ops.all().p99_ms.unwrap_or(0.0)),
            Self::Name => Ordering::Equal,
        };
        by_value.then_with(|| a.path.cmp(&b.path))
    }
}

/// For how much of the time between two looks the disk was busy, in percent.
pub(super) fn busy(before: &Status, after: &Status) -> f64 {
    let ms = |status: &Status| status.groups.iter().map(|group| group.device_time_ms).sum::<f64>();
    let passed_ms = ((after.uptime_s - before.uptime_s) * 1e3).max(1.0);
    // Of a group that was removed, the time is gone with it.
    (100.0 * (ms(after) - ms(before)) / passed_ms).clamp(0.0, 100.0)
}

/// A row for each group of `after`, in the order of `sort`.
pub(super) fn rows(before: &Status, after: &Status, sort: SortBy) -> Vec<Row> {
    let seconds = (after.uptime_s - before.uptime_s).max(1e-3);
    let older: BTreeMap<&str, &GroupEntry> =
        before.groups.iter().map(|group| (group.path.as_str(), group)).collect();
    let mut rows: Vec<Row> = after
        .groups
        .iter()
        .map(|group| row(older.get(group.path.as_str()).copied(), group, seconds))
        .collect();
    let whole: f64 = rows.iter().map(|row| row.got).sum();
    let has_something = |(row, group): (&Row, &GroupEntry)| row.got > 0.0 || group.is_present();
    let uses: Vec<bool> = rows.iter().zip(&after.groups).map(has_something).collect();
    for (row, part) in rows.iter_mut().zip(asked::parts(after, &uses)) {
        row.asked = 100.0 * part;
        let share = |ms: f64| if whole > 0.0 { 100.0 * ms / whole } else { 0.0 };
        (row.got, row.later) = (share(row.got), share(row.later));
    }
    rows.sort_by(|a, b| sort.order(a, b));
    rows
}

/// A group's row. `got` and `later` are times in ms, which the caller turns into shares.
fn row(before: Option<&GroupEntry>, after: &GroupEntry, seconds: f64) -> Row {
    let before = before.filter(|before| after.follows(before));
    let since =
        |count: fn(&GroupEntry) -> u64| count(after).saturating_sub(before.map_or(0, count)) as f64;
    let none = (Latencies::default(), FlushWaits::default());
    let (ops_before, waits_before) =
        before.map_or((&none.0, &none.1), |before| (&before.ops, &before.flush_waits));
    let ops = after.ops.since(ops_before);
    let flush_waits = after.flush_waits.since(waits_before);
    Row {
        path: after.path.clone(),
        parent: after.parent.clone(),
        weight: after.weight,
        ioprio: after.ioprio,
        asked: 0.0,
        got: after.device_time_ms - before.map_or(0.0, |before| before.device_time_ms),
        // A scheduler that has taken over has counted from 0 since.
        later: (after.deferred_ms - before.map_or(0.0, |before| before.deferred_ms)).max(0.0),
        ios_per_s: since(GroupEntry::requests) / seconds,
        mb_per_s: since(|group| group.read_bytes + group.written_bytes) / seconds / 1e6,
        ways: [
            Way {
                ios_per_s: since(|group| group.reads) / seconds,
                bytes_per_s: since(|group| group.read_bytes) / seconds,
            },
            Way {
                ios_per_s: since(|group| group.writes) / seconds,
                bytes_per_s: since(|group| group.written_bytes) / seconds,
            },
        ],
        limits: limits(after, &ops, &flush_waits),
        ops,
        flush_waits,
        oldest_ms: after.oldest_ms,
        waits: after.waits.clone(),
        queued: after.queued,
        in_flight: after.in_flight,
        errors: after.errors,
        qos: after.qos,
        ignored: after.ignored.clone(),
        refused: after.refused.clone(),
        unexamined: after.unexamined,
    }
}

/// The longest latency in ms, among the operations counted in `latency` and the oldest outstanding
/// one; `None` if there is neither.
pub(super) fn longest(latency: &Latency, oldest_ms: f64) -> Option<f64> {
    Some(latency.max_ms.unwrap_or(0.0).max(oldest_ms)).filter(|ms| *ms > 0.0)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use fairdisk_mount::control::LatencyCount;

    /// So many operations that took so long.
    pub(in super::super) fn took(le_us: u64, count: u64) -> Latency {
        let buckets = vec![LatencyCount { le_us, count }];
        Latency { buckets, ..Latency::default() }.since(&Latency::default())
    }

    /// A group that has something queued.
    pub(in super::super) fn row(path: &str, weight: u32) -> Row {
        Row {
            path: path.to_owned(),
            parent: None,
            weight,
            ioprio: None,
            asked: 80.0,
            got: 79.5,
            later: 0.5,
            ios_per_s: 120.0,
            mb_per_s: 0.5,
            ways: Default::default(),
            ops: Latencies::default(),
            flush_waits: FlushWaits::default(),
            oldest_ms: 0.0,
            waits: Vec::new(),
            queued: 0,
            in_flight: 1,
            errors: 0,
            limits: Vec::new(),
            qos: QosEntry::default(),
            ignored: Vec::new(),
            refused: Vec::new(),
            unexamined: false,
        }
    }

    fn group(path: &str, weight: u32, ms: f64, reads: u64) -> GroupEntry {
        GroupEntry {
            path: path.to_owned(),
            weight,
            ioprio: None,
            idle_ms: None,
            asks: format!("weight={weight}"),
            parent: path.rsplit_once('/').map(|(parent, _)| parent.to_owned()),
            qos: QosEntry::default(),
            cgroup: String::new(),
            own: BTreeMap::new(),
            replaced: Vec::new(),
            origins: BTreeMap::new(),
            ignored: Vec::new(),
            refused: Vec::new(),
            unexamined: false,
            reads,
            writes: 0,
            discards: 0,
            flushes: 0,
            read_bytes: reads * 4096,
            written_bytes: 0,
            discarded_bytes: 0,
            device_time_ms: ms,
            deferred_ms: 0.0,
            wait_max_ms: 9.0,
            errors: 0,
            queued: 0,
            in_flight: 0,
            oldest_ms: 0.0,
            waits: Vec::new(),
            ops: Latencies { read: took(2000, reads), ..Latencies::default() },
            flush_waits: FlushWaits::default(),
            latency: Vec::new(),
        }
    }

    fn status(uptime_s: f64, groups: Vec<GroupEntry>) -> Status {
        Status {
            schema: 2,
            disk: String::new(),
            mounts: Vec::new(),
            scheduler: "fair".to_owned(),
            tunables: Vec::new(),
            device_model: None,
            costs: None,
            io: None,
            depth: Some(64),
            cgroups: None,
            metrics: None,
            rules: None,
            uptime_s,
            unattributed_writes: 0,
            groups,
        }
    }

    /// A look at one group.
    pub(in super::super) fn status_of(path: &str, weight: u32) -> Status {
        status(10.0, vec![group(path, weight, 1.0, 1)])
    }

    #[test]
    fn a_row_is_what_happened_since_the_last_look() {
        let before = status(10.0, vec![group("/a", 100, 500.0, 50), group("/idle", 100, 1.0, 1)]);
        let after = status(
            12.0,
            vec![
                group("/a", 100, 900.0, 150),
                group("/idle", 100, 1.0, 1),
                group("/new", 300, 1200.0, 400),
            ],
        );
        let rows = rows(&before, &after, SortBy::Got);
        let paths: Vec<&str> = rows.iter().map(|row| row.path.as_str()).collect();
        assert_eq!(paths, ["/new", "/a", "/idle"]);
        assert_eq!((rows[0].asked, rows[0].got), (75.0, 75.0));
        assert_eq!((rows[1].ios_per_s, rows[1].ops.all().p50_ms), (50.0, Some(2.0)));
        assert_eq!((rows[2].asked, rows[2].ops.all().p99_ms), (0.0, None));
    }

    /// What another scheduler had counted before is not subtracted.
    #[test]
    fn what_the_disk_did_later_is_shown_beside_what_it_did_at_once() {
        let deferred = |deferred_ms, ms| GroupEntry { deferred_ms, ..group("/w", 100, ms, 1) };
        let before = status(10.0, vec![deferred(40.0, 100.0), group("/r", 300, 500.0, 1)]);
        for (now, later) in [(140.0, 10.0), (30.0, 0.0)] {
            let after = status(12.0, vec![deferred(now, 250.0), group("/r", 300, 1350.0, 1)]);
            let rows = rows(&before, &after, SortBy::Got);
            assert_eq!((rows[0].got, rows[0].later), (85.0, 0.0));
            assert_eq!((rows[1].got, rows[1].later), (15.0, later));
        }
    }

    /// A group that waits and got nothing still asks for its share.
    #[test]
    fn who_gets_nothing_asks_for_its_part_and_waits() {
        let before = status(10.0, vec![group("/a", 300, 500.0, 50), group("/b", 100, 1.0, 1)]);
        let starved =
            GroupEntry { queued: 7, in_flight: 1, oldest_ms: 1900.0, ..group("/b", 100, 1.0, 1) };
        let after = status(12.0, vec![group("/a", 300, 2500.0, 150), starved]);
        let rows = rows(&before, &after, SortBy::Got);
        assert_eq!((rows[0].asked, rows[0].got), (75.0, 100.0));
        assert_eq!((rows[1].asked, rows[1].got), (25.0, 0.0));
        assert_eq!((rows[1].queued, rows[1].in_flight), (7, 1));
        assert_eq!(longest(&rows[1].ops.all(), rows[1].oldest_ms), Some(1900.0));
    }

    #[test]
    fn the_longest_is_that_of_the_time_between_two_looks() {
        let before = took(1000, 5).with(&took(7_000_000, 1));
        let after = before.with(&took(1000, 4)).with(&took(3000, 1));
        let between = after.since(&before);
        assert_eq!(longest(&between, 0.0), Some(3.0), "the 7 s were long ago");
        assert_eq!(longest(&between, 50.0), Some(50.0));
        assert_eq!(longest(&after.since(&after), 0.0), None);
    }

    /// A weight counts among its siblings only; a scheduler without nested groups treats all groups
    /// as siblings.
    #[test]
    fn what_is_asked_for_goes_down_the_tree() {
        let before = status(10.0, Vec::new());
        let mut after = status(
            12.0,
            vec![
                group("/a", 300, 1.0, 1),
                group("/a/big", 800, 1.0, 1),
                group("/a/small", 100, 1.0, 1),
                group("/a/idle", 5000, 0.0, 0),
                group("/b", 100, 1.0, 1),
                group("/c", 600, 0.0, 0),
                group("/c/d/e", 50, 1.0, 1),
                group("/c/d", 7, 0.0, 0),
            ],
        );
        let asked = |after: &Status| {
            let rows = rows(&before, after, SortBy::Name);
            rows.iter().map(|row| format!("{} {:.1}", row.path, row.asked)).collect::<Vec<_>>()
        };
        let deep = [
            "/a 3.0",
            "/a/big 24.0",
            "/a/idle 0.0",
            "/a/small 3.0",
            "/b 10.0",
            "/c 0.0",
            "/c/d 0.0",
            "/c/d/e 60.0",
        ];
        assert_eq!(asked(&after), deep);
        after.scheduler = "two-layer-cfq".to_owned();
        let flat = [
            "/a 22.2",
            "/a/big 59.3",
            "/a/idle 0.0",
            "/a/small 7.4",
            "/b 7.4",
            "/c 0.0",
            "/c/d 0.0",
            "/c/d/e 3.7",
        ];
        assert_eq!(asked(&after), flat);
    }

    #[test]
    fn sorting_goes_round() {
        let mut sort = SortBy::default();
        for _ in 0..5 {
            sort = sort.next();
        }
        assert_eq!(sort, SortBy::default());
    }
}
