//! What can be asked, and the answers.

use super::settings::Settings;
use crate::identity::{Asks, Hierarchy, Said};
use crate::mounts::MountEntry;
use crate::options::MountOptions;
use fairdisk_core::{GroupAccount, GroupLoad, Histogram, Qos, Share, Span};
use fairdisk_sched::Honours;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::num::NonZeroU64;

/// What can be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Ask {
    /// How the mount and its groups are doing.
    List,
    /// The same, of one group, also of one that has asked for nothing yet. A cgroup without
    /// settings is part of the one around it that has some: the answer is about that.
    Get {
        /// Its cgroup.
        group: String,
    },
    /// Settings of a group, all of them or none.
    Set {
        /// Its cgroup.
        group: String,
        /// `weight=200`, `max_iops=100` and so on.
        settings: Vec<String>,
    },
    /// Another scheduler.
    Scheduler {
        /// Its name.
        name: String,
    },
    /// One more mount on the disk.
    Mount(Box<Wanted>),
    /// One mount less.
    Unmount {
        /// Where it is.
        mountpoint: OsString,
    },
    /// What is mounted.
    Mounts,
}

/// A mount to be made by whoever runs its disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// What is to be mounted, from the root on.
    pub source: OsString,
    /// Where, from the root on.
    pub mountpoint: OsString,
    /// How.
    pub options: MountOptions,
    /// How the disk is to be run.
    pub settings: Settings,
    /// Where these paths mean what they say.
    pub namespace: String,
}

impl Ask {
    /// Whether it changes something.
    #[must_use]
    pub const fn is_change(&self) -> bool {
        !matches!(self, Self::List | Self::Get { .. } | Self::Mounts)
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// How everything is.
    Status(Status),
    /// It is done.
    Done,
    /// It is mounted here.
    Mounted(OsString),
    /// What is mounted.
    Mounts(Vec<MountEntry>),
    /// The last mount has just gone or goes: whoever wants one now has the disk to themselves.
    Over,
    /// Why it is refused.
    Error(String),
    /// Why it has not worked, although nothing is wrong with what was asked for.
    Failed(String),
}

/// How a disk and the mounts on it are doing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Version of this format.
    pub schema: u32,
    /// The disk, as the kernel calls it.
    pub disk: String,
    /// The mounts on it.
    pub mounts: Vec<MountEntry>,
    /// The scheduler in charge.
    pub scheduler: String,
    /// The disk whose timing is kept to, if any.
    pub device_model: Option<String>,
    /// What performs the reads of a busy disk: `uring` or `threads`.
    pub io: Option<String>,
    /// Where groups come from.
    pub cgroups: Option<String>,
    /// For how long it has been running.
    pub uptime_s: f64,
    /// Writes that came from no task, as those of memory maps, and were charged to the last user of
    /// their file.
    #[serde(default)]
    pub unattributed_writes: u64,
    /// Its groups.
    pub groups: Vec<GroupEntry>,
}

/// How a group is doing; what is counted is counted since the mount.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupEntry {
    /// Its cgroup.
    pub path: String,
    /// Its weight.
    pub weight: u32,
    /// Its priority, if that is what it was given.
    pub ioprio: Option<u8>,
    /// How long the disk is kept for it when it has nothing queued, if that was said.
    #[serde(default)]
    pub idle_ms: Option<u64>,
    /// What it asks for, in the words of settings.
    #[serde(default)]
    pub asks: String,
    /// The cgroup of the group it lies in.
    #[serde(default)]
    pub parent: Option<String>,
    /// Its floor, ceiling and latency target, as far as they were said.
    #[serde(default, flatten)]
    pub qos: QosEntry,
    /// Those of its settings that the scheduler in charge takes no notice of, by their keys.
    #[serde(default)]
    pub ignored: Vec<String>,
    /// Finished reads.
    pub reads: u64,
    /// Finished writes.
    pub writes: u64,
    /// Finished discards.
    #[serde(default)]
    pub discards: u64,
    /// Finished flushes.
    pub flushes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Bytes discarded.
    #[serde(default)]
    pub discarded_bytes: u64,
    /// How long the disk was busy for it.
    pub device_time_ms: f64,
    /// The longest anything of it waited for the disk, or waits now.
    pub wait_max_ms: f64,
    /// I/Os that failed.
    pub errors: u64,
    /// Requests that wait for the disk at this moment.
    #[serde(default)]
    pub queued: u32,
    /// Requests at the disk at this moment.
    #[serde(default)]
    pub in_flight: u32,
    /// How long ago the oldest of what it has not got yet was asked for.
    #[serde(default)]
    pub oldest_ms: f64,
    /// How long its I/Os took, from the asking to the answer.
    pub latency: Vec<LatencyCount>,
}

/// What a group asks for beside its share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct QosEntry {
    /// I/Os a second at least.
    pub min_iops: Option<NonZeroU64>,
    /// Bytes a second at least.
    pub min_bps: Option<NonZeroU64>,
    /// I/Os a second at most.
    pub max_iops: Option<NonZeroU64>,
    /// Bytes a second at most.
    pub max_bps: Option<NonZeroU64>,
    /// How much of that may go at once, as time.
    pub burst_ms: Option<u64>,
    /// Within how many milliseconds 99 of 100 I/Os are to be done.
    pub latency_p99_ms: Option<f64>,
}

impl From<Qos> for QosEntry {
    fn from(qos: Qos) -> Self {
        Self {
            min_iops: qos.floor.iops,
            min_bps: qos.floor.bytes_per_s,
            max_iops: qos.ceiling.iops,
            max_bps: qos.ceiling.bytes_per_s,
            burst_ms: (!qos.ceiling.is_none()).then_some(qos.burst.as_ms()),
            latency_p99_ms: qos.latency_p99.map(ms),
        }
    }
}

/// So many I/Os took no longer than this, and longer than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyCount {
    /// The upper end.
    pub le_us: u64,
    /// How many.
    pub count: u64,
}

impl LatencyCount {
    /// What `percent` of those counted took at most, in milliseconds; nothing if there are none.
    #[must_use]
    pub fn quantile_ms(counts: &[Self], percent: u64) -> Option<f64> {
        let total: u64 = counts.iter().map(|bucket| bucket.count).sum();
        let rank = (total * percent).div_ceil(100).max(1);
        let mut seen = 0;
        let found = counts.iter().find(|bucket| {
            seen += bucket.count;
            seen >= rank
        });
        found.map(|bucket| bucket.le_us as f64 / 1e3)
    }
}

impl GroupEntry {
    /// Finished I/Os of all kinds.
    #[must_use]
    pub const fn requests(&self) -> u64 {
        self.reads + self.writes + self.discards + self.flushes
    }

    /// Whether it has something queued or at the disk.
    #[must_use]
    pub const fn is_present(&self) -> bool {
        self.queued + self.in_flight > 0
    }

    /// What is kept with the group that tasks in `cgroup`, a path from the root on, belong to where
    /// no scheduler is in charge.
    #[must_use]
    pub fn kept(hierarchy: &Hierarchy, cgroup: &str) -> Self {
        Self::unknown(hierarchy, hierarchy.effective(cgroup), Honours::ALL)
    }

    /// A group of which nothing is known but what its directory says: nobody of it has come yet.
    pub(super) fn unknown(
        hierarchy: &Hierarchy,
        (path, said): (&str, Said),
        honours: Honours,
    ) -> Self {
        let parent = hierarchy.outer(path).map(|(parent, _)| parent);
        let (nothing, present) = (GroupAccount::default(), Default::default());
        Self::of((path, parent), said.asks, &nothing, present, honours)
    }

    /// The group at `path`, which lies in that at `parent` and got what `account` says.
    pub(super) fn of(
        (path, parent): (&str, Option<&str>),
        asks: Asks,
        account: &GroupAccount,
        (load, oldest): (GroupLoad, Span),
        honours: Honours,
    ) -> Self {
        Self {
            path: path.to_owned(),
            weight: asks.share.weight(Asks::WEIGHTS).get(),
            ioprio: match asks.share {
                Share::Priority(priority) => Some(priority),
                Share::Weight(_) => None,
            },
            idle_ms: asks.idle.map(Span::as_ms),
            asks: asks.to_string(),
            parent: parent.map(ToOwned::to_owned),
            qos: asks.qos.into(),
            ignored: asks.ignored(honours).map(ToOwned::to_owned).collect(),
            reads: account.reads,
            writes: account.writes,
            discards: account.discards,
            flushes: account.flushes,
            read_bytes: account.read_bytes,
            written_bytes: account.written_bytes,
            discarded_bytes: account.discarded_bytes,
            device_time_ms: ms(account.device_time),
            wait_max_ms: ms(account.wait_max),
            errors: account.errors,
            queued: load.queued,
            in_flight: load.in_flight,
            oldest_ms: ms(oldest),
            latency: latency(&account.latency),
        }
    }
}

fn ms(span: Span) -> f64 {
    span.as_ns() as f64 / 1e6
}

fn latency(histogram: &Histogram) -> Vec<LatencyCount> {
    let mut counts: Vec<LatencyCount> = Vec::new();
    for (to, count) in histogram.buckets().filter(|(_, count)| *count > 0) {
        let le_us = to.as_ns().div_ceil(1000);
        // The shortest are told apart more finely than is said.
        match counts.last_mut() {
            Some(last) if last.le_us == le_us => last.count += count,
            _ => counts.push(LatencyCount { le_us, count }),
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever takes the difference of two answers looks for each upper end once.
    #[test]
    fn what_took_as_many_microseconds_is_counted_together() {
        let mut histogram = Histogram::default();
        [4100, 4500, 9000].into_iter().for_each(|ns| histogram.record(Span::from_ns(ns)));
        let of = |le_us, count| LatencyCount { le_us, count };
        assert_eq!(histogram.buckets().filter(|(_, count)| *count > 0).count(), 3);
        assert_eq!(latency(&histogram), [of(5, 2), of(10, 1)]);
    }

    #[test]
    fn the_middle_is_found() {
        let bucket = |le_us, count| LatencyCount { le_us, count };
        let counts = [bucket(1000, 50), bucket(2000, 48), bucket(9000, 2)];
        let quantiles = [50, 98, 99].map(|percent| LatencyCount::quantile_ms(&counts, percent));
        assert_eq!(quantiles, [Some(1.0), Some(2.0), Some(9.0)]);
        assert_eq!(LatencyCount::quantile_ms(&[], 50), None);
    }

    #[test]
    fn questions_are_short_lines() {
        let text = r#"{"do":"set","group":"/a","settings":["weight=7"]}"#;
        let ask: Ask = serde_json::from_str(text).unwrap();
        let settings = vec!["weight=7".to_owned()];
        assert_eq!(ask, Ask::Set { group: "/a".to_owned(), settings });
        assert_eq!(serde_json::to_string(&ask).unwrap(), text);
        assert!(ask.is_change());
        for garbage in ["", "{}", r#"{"do":"burn"}"#, "[1", "\u{0}"] {
            assert!(serde_json::from_str::<Ask>(garbage).is_err(), "{garbage}");
        }
    }
}
