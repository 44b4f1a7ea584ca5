//! The messages of the control protocol.

use super::latency::{FlushWaits, Latencies, Latency, LatencyCount, ms};
use super::settings::Settings;
use super::waits::WaitEntry;
use crate::identity::{Asks, Hierarchy, Said};
use crate::mounting::mounts::MountEntry;
use crate::mounting::options::MountOptions;
use fairdisk_core::{GroupAccount, GroupLoad, OpKind, Qos, Share, Span};
use fairdisk_plane::disk::Flushes;
use fairdisk_sched::Honours;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::num::NonZeroU64;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Ask {
    /// Asks for the status of the disk and of all groups.
    List,
    /// Asks for the status of one group, even if it has made no requests yet. A cgroup without
    /// settings belongs to the nearest enclosing group that has some, and the answer is about that
    /// group.
    Get {
        /// The path of the cgroup.
        group: String,
    },
    /// Sets several settings of a group, all of them or none.
    Set {
        /// The path of the cgroup.
        group: String,
        /// The settings, as `weight=200`, `max_iops=100` and so on.
        settings: Vec<String>,
        /// Whether they are for this disk alone, and not for every disk without own values.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        own: bool,
    },
    /// Switches to another scheduler, or sets tunables of the one that runs.
    Scheduler {
        /// The name of the scheduler.
        name: String,
        /// Its tunables, as `KEY=VALUE`. Those that are set already are kept if it runs already.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tunables: Vec<String>,
    },
    /// Asks for the tunables of the scheduler.
    Tunables,
    /// Serves the metrics at another address, or no longer.
    Metrics {
        /// The address, as `--metrics` takes it; `None` to turn them off.
        address: Option<String>,
    },
    /// Has what programs do recorded. After [`Answer::Recording`] the recording follows as it is
    /// made, in the format of `fairdisk_trace::fdt`, until its time is over or the client sends
    /// nothing more; then the connection ends.
    Record {
        /// For how long, in milliseconds.
        ms: u64,
    },
    /// Adds a mount on the disk.
    Mount(Box<Wanted>),
    /// Unmounts a mount.
    Unmount {
        /// The path of its mount point.
        mountpoint: OsString,
    },
    /// Asks for the list of mounts.
    Mounts,
}

/// A mount that is to be made by the daemon that runs its disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// The absolute path of the source directory.
    pub source: OsString,
    /// The absolute path of the mount point.
    pub mountpoint: OsString,
    /// The options of the mount.
    pub options: MountOptions,
    /// The settings with which the disk is to be served.
    pub settings: Settings,
    /// The mount namespace in which the paths are valid.
    pub namespace: String,
}

impl Ask {
    /// Whether the request changes anything, which not everybody may do.
    #[must_use]
    pub const fn is_change(&self) -> bool {
        !matches!(self, Self::List | Self::Get { .. } | Self::Tunables | Self::Mounts)
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// The status.
    Status(Box<Status>),
    /// The tunables of the scheduler.
    Tunables(Tunables),
    /// The change has been made.
    Done,
    /// The recording follows.
    Recording,
    /// The mount has been made, at this path.
    Mounted(OsString),
    /// The list of mounts.
    Mounts(Vec<MountEntry>),
    /// The last mount has ended or is ending, so that the client can run the disk itself.
    Over,
    /// The request is refused, for this reason.
    Error(String),
    /// The request has failed for this reason, although it was not wrong.
    Failed(String),
}

/// The scheduler of a disk and its tunables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tunables {
    /// The kernel's name of the disk.
    pub disk: String,
    /// The scheduler.
    pub scheduler: String,
    /// All of its tunables.
    pub tunables: Vec<Tunable>,
}

/// A tunable of a scheduler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tunable {
    /// The key.
    pub key: String,
    /// The value in force.
    pub value: String,
    /// The value that the scheduler has by itself.
    pub default: String,
    /// The values that may be set, in words.
    pub allowed: String,
}

/// The status of a disk and of its mounts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    /// The version of this format.
    pub schema: u32,
    /// The kernel's name of the disk.
    pub disk: String,
    /// The mounts on the disk.
    pub mounts: Vec<MountEntry>,
    /// The current scheduler.
    pub scheduler: String,
    /// Its tunables with another value than it has by itself, as `KEY=VALUE`.
    #[serde(default)]
    pub tunables: Vec<String>,
    /// The device model that sets the pace, if any.
    pub device_model: Option<String>,
    /// The device whose costs the scheduler goes by, if any.
    #[serde(default)]
    pub costs: Option<String>,
    /// What performs the reads of a busy disk: `uring` or `threads`.
    pub io: Option<String>,
    /// The number of requests that the disk gets at once.
    #[serde(default)]
    pub depth: Option<u32>,
    /// The hierarchy that groups come from.
    pub cgroups: Option<String>,
    /// The address at which the metrics are served.
    #[serde(default)]
    pub metrics: Option<String>,
    /// The directory of the rules for groups, if there are groups.
    #[serde(default)]
    pub rules: Option<String>,
    /// The time in seconds since the first mount.
    pub uptime_s: f64,
    /// The number of writes without a task, such as those through memory maps, which were charged
    /// to the last user of their file.
    #[serde(default)]
    pub unattributed_writes: u64,
    /// The groups.
    pub groups: Vec<GroupEntry>,
}

/// The settings and figures of a group. Counters begin with the mount.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupEntry {
    /// The path of the group's cgroup.
    // Mounts of before call it `path`.
    #[serde(rename = "name", alias = "path")]
    pub path: String,
    /// The weight.
    pub weight: u32,
    /// The priority, if the share was given as one.
    pub ioprio: Option<u8>,
    /// How long, in ms, the disk is kept idle for the group when it has nothing queued, if that is
    /// set.
    #[serde(default)]
    pub idle_ms: Option<u64>,
    /// All settings, in the syntax of `ctl set`.
    #[serde(default)]
    pub asks: String,
    /// The cgroup of the enclosing group.
    #[serde(default)]
    pub parent: Option<String>,
    /// The floor, the ceiling and the latency target, as far as they are set.
    #[serde(default, flatten)]
    pub qos: QosEntry,
    /// The path of the cgroup that was asked about.
    #[serde(default)]
    pub cgroup: String,
    /// Of a group that was asked about, the settings that hold for one disk alone, by that disk.
    #[serde(default)]
    pub own: BTreeMap<String, Vec<String>>,
    /// Of a group that was asked about, the settings for all disks in whose place this disk has own
    /// ones.
    #[serde(default)]
    pub replaced: Vec<String>,
    /// Of a group that was asked about, where those settings come from that were not made with
    /// `ctl set`: a file and a line of it, by key.
    #[serde(default)]
    pub origins: BTreeMap<String, String>,
    /// The keys of those settings that the current scheduler ignores.
    #[serde(default)]
    pub ignored: Vec<String>,
    /// The floor that the scheduler refused, in the syntax of `ctl set`.
    #[serde(default)]
    pub refused: Vec<String>,
    /// Whether the group's floor was promised without an examination, because the scheduler does
    /// not know yet what requests cost.
    #[serde(default)]
    pub unexamined: bool,
    /// The number of finished reads.
    pub reads: u64,
    /// The number of finished writes.
    pub writes: u64,
    /// The number of finished discards.
    #[serde(default)]
    pub discards: u64,
    /// The number of finished flushes.
    pub flushes: u64,
    /// The number of bytes read.
    pub read_bytes: u64,
    /// The number of bytes written.
    pub written_bytes: u64,
    /// The number of bytes discarded.
    #[serde(default)]
    pub discarded_bytes: u64,
    /// The time in ms for which the disk was busy for the group.
    pub device_time_ms: f64,
    /// The time in ms for which the disk worked on the group's writes after it had said that they
    /// were done, as far as the scheduler has found that out and charged the group for it.
    #[serde(default)]
    pub deferred_ms: f64,
    /// The longest time in ms that a request of the group waited, or has been waiting, for the
    /// disk.
    pub wait_max_ms: f64,
    /// The number of failed I/Os.
    pub errors: u64,
    /// The number of requests that wait for the disk at the moment.
    #[serde(default)]
    pub queued: u32,
    /// The number of requests at the disk at the moment.
    #[serde(default)]
    pub in_flight: u32,
    /// The age in ms of the oldest unfinished request.
    #[serde(default)]
    pub oldest_ms: f64,
    /// Why the group waited in the last second, the commonest reason first.
    #[serde(default)]
    pub waits: Vec<WaitEntry>,
    /// How long operations of each kind took, from the call to the answer.
    #[serde(default)]
    pub ops: Latencies,
    /// What flushes waited for.
    #[serde(default)]
    pub flush_waits: FlushWaits,
    /// How long operations of all kinds took, in buckets.
    pub latency: Vec<LatencyCount>,
}

/// The settings of a group beside its share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct QosEntry {
    /// The floor in I/Os per second.
    pub min_iops: Option<NonZeroU64>,
    /// The floor in bytes per second.
    pub min_bps: Option<NonZeroU64>,
    /// The ceiling in I/Os per second.
    pub max_iops: Option<NonZeroU64>,
    /// The ceiling in bytes per second.
    pub max_bps: Option<NonZeroU64>,
    /// The ceiling in reads per second.
    pub max_read_iops: Option<NonZeroU64>,
    /// The ceiling in bytes read per second.
    pub max_read_bps: Option<NonZeroU64>,
    /// The ceiling in writes per second.
    pub max_write_iops: Option<NonZeroU64>,
    /// The ceiling in bytes written per second.
    pub max_write_bps: Option<NonZeroU64>,
    /// The bursts at a rate of their own.
    #[serde(flatten)]
    pub peak: PeakEntry,
    /// The burst that the ceiling permits at once, in ms at its rate.
    pub burst_ms: Option<u64>,
    /// The latency target in ms, within which 99 of 100 I/Os are to complete.
    pub latency_p99_ms: Option<f64>,
    /// The target in ms for flushes, from the call to the answer.
    pub fsync_p99_ms: Option<f64>,
}

/// The bursts of a group at a rate of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PeakEntry {
    /// Their rate in I/Os per second.
    pub burst_iops: Option<NonZeroU64>,
    /// Their rate in bytes per second.
    pub burst_bps: Option<NonZeroU64>,
    /// How long the longest lasts, in seconds.
    pub burst_for: Option<u64>,
}

impl From<Qos> for QosEntry {
    fn from(qos: Qos) -> Self {
        Self {
            min_iops: qos.floor.iops,
            min_bps: qos.floor.bytes_per_s,
            max_iops: qos.ceiling.iops,
            max_bps: qos.ceiling.bytes_per_s,
            max_read_iops: qos.read_ceiling.iops,
            max_read_bps: qos.read_ceiling.bytes_per_s,
            max_write_iops: qos.write_ceiling.iops,
            max_write_bps: qos.write_ceiling.bytes_per_s,
            peak: PeakEntry {
                burst_iops: qos.peak.iops,
                burst_bps: qos.peak.bytes_per_s,
                burst_for: (!qos.peak.is_none()).then_some(qos.peak_for.as_ms() / 1_000),
            },
            burst_ms: (!qos.is_unlimited()).then_some(qos.burst.as_ms()),
            latency_p99_ms: qos.latency_p99.map(ms),
            fsync_p99_ms: qos.fsync_p99.map(ms),
        }
    }
}

impl GroupEntry {
    /// The number of finished I/Os of all kinds.
    #[must_use]
    pub const fn requests(&self) -> u64 {
        self.reads + self.writes + self.discards + self.flushes
    }

    /// Whether these figures go on from those of `before`: a group that was removed and created
    /// again has counted from 0 since.
    #[must_use]
    pub fn follows(&self, before: &Self) -> bool {
        before.device_time_ms <= self.device_time_ms
    }

    /// Whether the group has requests queued or at the disk.
    #[must_use]
    pub const fn is_present(&self) -> bool {
        self.queued + self.in_flight > 0
    }

    /// The stored settings of the group to which tasks in `cgroup`, an absolute path, belong, while
    /// no scheduler is running.
    #[must_use]
    pub fn kept(hierarchy: &Hierarchy, cgroup: &str) -> Self {
        let entry = Self::unknown(hierarchy, hierarchy.effective(cgroup), Honours::ALL);
        entry.asked_about(hierarchy, cgroup)
    }

    /// The entry with what those who ask about `cgroup` are told.
    pub(super) fn asked_about(self, hierarchy: &Hierarchy, cgroup: &str) -> Self {
        let (own, replaced) = hierarchy.own(&self.path);
        let origins = hierarchy.origins(&self.path);
        Self { cgroup: cgroup.to_owned(), own, replaced, origins, ..self }
    }

    /// A group without figures, because none of its tasks has made a request yet.
    pub(super) fn unknown(
        hierarchy: &Hierarchy,
        (path, said): (&str, Said),
        honours: Honours,
    ) -> Self {
        let parent = hierarchy.outer(path).map(|(parent, _)| parent);
        let (nothing, flushes) = (GroupAccount::default(), Flushes::default());
        Self::of((path, parent), said.asks, (&nothing, &flushes), Default::default(), honours)
    }

    /// The group at `path`, inside the one at `parent`, with the figures of `account`.
    pub(super) fn of(
        (path, parent): (&str, Option<&str>),
        asks: Asks,
        (account, flushes): (&GroupAccount, &Flushes),
        (load, oldest): (GroupLoad, Span),
        honours: Honours,
    ) -> Self {
        let [read, write, discard, flush] = OpKind::ALL.map(|kind| &account.ops[kind]);
        let mut all = flushes.total.clone();
        [read, write, discard].iter().for_each(|op| all.merge(&op.latency));
        Self {
            path: path.to_owned(),
            weight: asks.share.weight(Asks::WEIGHTS).get(),
            ioprio: match asks.share {
                // Also that of a group of which nobody has said anything.
                Share::DEFAULT | Share::Weight(_) => None,
                Share::Priority(priority) => Some(priority),
            },
            idle_ms: asks.idle.map(Span::as_ms),
            asks: asks.to_string(),
            parent: parent.map(ToOwned::to_owned),
            qos: asks.qos.into(),
            cgroup: String::new(),
            own: BTreeMap::new(),
            replaced: Vec::new(),
            origins: BTreeMap::new(),
            ignored: asks.ignored(honours).map(ToOwned::to_owned).collect(),
            refused: Vec::new(),
            unexamined: false,
            reads: read.ios(),
            writes: write.ios(),
            discards: discard.ios(),
            flushes: flush.ios(),
            read_bytes: read.bytes,
            written_bytes: write.bytes,
            discarded_bytes: discard.bytes,
            device_time_ms: ms(account.device_time),
            deferred_ms: 0.0,
            wait_max_ms: ms(account.wait_max()),
            errors: account.errors,
            queued: load.queued,
            in_flight: load.in_flight,
            oldest_ms: ms(oldest),
            waits: Vec::new(),
            ops: Latencies {
                read: (&read.latency).into(),
                write: (&write.latency).into(),
                discard: (&discard.latency).into(),
                flush: (&flushes.total).into(),
            },
            flush_waits: FlushWaits {
                own_data: (&flushes.own_data).into(),
                scheduler: (&flushes.scheduler).into(),
                source: (&flushes.device).into(),
            },
            latency: Latency::from(&all).buckets,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::QosKey;

    #[test]
    fn settings_have_the_names_under_which_they_are_made() {
        let mut qos = Qos::NONE;
        QosKey::ALL.into_iter().for_each(|key| key.set(&mut qos, Some(2 * key.notation().unit)));
        let json = serde_json::to_value(QosEntry::from(qos)).unwrap();
        for key in QosKey::ALL {
            assert_eq!(json[key.name()].as_f64(), Some(2.0), "{key:?}");
        }
    }

    #[test]
    fn questions_are_short_lines() {
        let text = r#"{"do":"set","group":"/a","settings":["weight=7"]}"#;
        let ask: Ask = serde_json::from_str(text).unwrap();
        let settings = vec!["weight=7".to_owned()];
        assert_eq!(ask, Ask::Set { group: "/a".to_owned(), settings, own: false });
        assert_eq!(serde_json::to_string(&ask).unwrap(), text);
        assert!(ask.is_change());
        for garbage in ["", "{}", r#"{"do":"burn"}"#, "[1", "\u{0}"] {
            assert!(serde_json::from_str::<Ask>(garbage).is_err(), "{garbage}");
        }
    }
}
