//! The tasks of a row, and what they do.

use super::{Experiment, IoniceClass};
use fairdisk_core::Span;
use fairdisk_sim::workload::Think;
use serde::Deserialize;
use std::num::{NonZeroU32, NonZeroU64};

/// The mix of operations.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum OpMix {
    /// Only reads.
    Read,
    /// Only writes.
    Write,
    /// Both, in the proportion of `read_percent`.
    Mixed,
}

/// The position of the next I/O.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum TaskOrder {
    /// Right after the previous one.
    Sequential,
    /// Anywhere, at random.
    Random,
}

/// The position at which the tasks of a line continue.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum TaskStream {
    /// Each task has its own position.
    #[default]
    Own,
    /// Each of n tasks reads or writes every n-th block.
    Interleaved,
    /// All tasks take the next block from one common position.
    Shared,
}

/// The advice of tasks about their mapping.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum TaskAdvice {
    /// No advice.
    #[default]
    None,
    /// The mapping will be accessed at random.
    Random,
    /// The mapping will be accessed sequentially.
    Sequential,
}

/// Defines the keys that tasks and defaults have in common, so that each is written once.
macro_rules! task_keys {
    ($($key:ident: $kind:ty),* $(,)?) => {
        /// Values for tasks that do not set their own.
        #[derive(Clone, Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Defaults {
            $(pub(super) $key: Option<$kind>,)*
        }

        /// A number of tasks that do the same.
        #[derive(Clone, Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Tasks {
            /// The name under which the tasks are reported separately, on one line.
            pub name: Option<String>,
            /// The name of their group.
            pub group: String,
            /// The number of tasks.
            #[serde(default = "one")]
            pub count: u32,
            /// Index of the file that all of them use; without it, each has a random file of its
            /// own.
            pub file: Option<u32>,
            /// Whether they create their files.
            #[serde(default)]
            pub new: bool,
            /// Whether the run does not wait for them: they continue until the other tasks have
            /// ended.
            #[serde(default)]
            pub background: bool,
            /// The delay after which they start, in seconds.
            pub start_s: Option<f64>,
            /// The name of tasks above that must all have ended before these start.
            pub after: Option<String>,
            /// The name of tasks above whose files these use, each those of its counterpart.
            pub files_of: Option<String>,
            /// Their `ionice` level, if different from the group's.
            pub ionice: Option<u8>,
            /// Their `ionice` class, if different from the group's.
            pub ionice_class: Option<IoniceClass>,
            $(pub(super) $key: Option<$kind>,)*
        }

        impl Tasks {
            /// Their own values, and the defaults for the rest.
            fn merged(&self, defaults: &Defaults) -> Defaults {
                Defaults { $($key: self.$key.clone().or_else(|| defaults.$key.clone()),)* }
            }
        }

        impl Defaults {
            /// Whether a key is set.
            pub(super) fn say(&self, key: &str) -> bool {
                match key {
                    $(stringify!($key) => self.$key.is_some(),)*
                    _ => false,
                }
            }
        }
    };
}

task_keys! {
    volume: String,
    offset_mib: u64,
    size_mib: u64,
    op: OpMix,
    read_percent: u8,
    order: TaskOrder,
    block_kib: u64,
    hole_kib: u64,
    stream: TaskStream,
    direct: bool,
    keeps_cache: bool,
    mapped: bool,
    advice: TaskAdvice,
    sync: bool,
    fsync_every: NonZeroU32,
    fdatasync_every: NonZeroU32,
    end_fsync: bool,
    bytes_mib: u64,
    ios: NonZeroU64,
    depth: u32,
    think_ms: f64,
    burst_ios: u32,
    rate_iops: NonZeroU64,
    rate_kib_per_s: NonZeroU64,
}

impl Tasks {
    /// Their own values, and the defaults for the rest. A rate of their own replaces that of the
    /// defaults, whatever its unit.
    pub(super) fn with(&self, defaults: &Defaults) -> Defaults {
        let mut keys = self.merged(defaults);
        match (self.rate_iops, self.rate_kib_per_s) {
            (Some(_), None) => keys.rate_kib_per_s = None,
            (None, Some(_)) => keys.rate_iops = None,
            _ => {}
        }
        keys
    }

    /// Whether they set a key themselves.
    pub(super) fn say(&self, key: &str) -> bool {
        self.merged(&Defaults::default()).say(key)
    }
}

const fn writes_by_call(op: OpMix, is_mapped: bool) -> bool {
    !matches!(op, OpMix::Read) && !is_mapped
}

const fn one() -> u32 {
    1
}

/// What one task does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The name of its volume.
    pub volume: String,
    /// The first byte it uses of its file.
    pub offset: u64,
    /// The number of bytes it uses from there; `None` for all.
    pub size: Option<u64>,
    /// The mix of operations.
    pub op: OpMix,
    /// The percentage of reads in a mix.
    pub read_percent: u8,
    /// The position of the next I/O.
    pub order: TaskOrder,
    /// The size of an I/O in bytes.
    pub block_bytes: u64,
    /// The bytes left out after each I/O.
    pub hole_bytes: u64,
    /// The position at which it continues.
    pub stream: TaskStream,
    /// Whether it bypasses the page cache.
    pub direct: bool,
    /// Whether pages of a file stay in memory when it starts on the file.
    pub keeps_cache: bool,
    /// Whether it accesses its file through a mapping, by page faults.
    pub mapped: bool,
    /// The task's advice about its mapping.
    pub advice: TaskAdvice,
    /// Whether a write returns only when it is durable.
    pub sync: bool,
    /// The number of writes after which it calls `fsync`.
    pub fsync_every: Option<NonZeroU32>,
    /// The number of writes after which it calls `fdatasync`.
    pub fdatasync_every: Option<NonZeroU32>,
    /// Whether it calls `fsync` before it ends.
    pub end_fsync: bool,
    /// The number of bytes after which it is done.
    pub bytes: Option<u64>,
    /// The number of I/Os after which it is done.
    pub ios: Option<u64>,
    /// The number of I/Os it keeps in flight.
    pub depth: u32,
    /// When it pauses.
    pub think: Option<Think>,
    /// The task's highest rate in bytes per second.
    pub bytes_per_s: Option<NonZeroU64>,
}

impl Experiment {
    /// What each of these tasks does, with defaults filled in.
    #[must_use]
    pub fn task(&self, tasks: &Tasks) -> Task {
        let keys = tasks.with(&self.defaults);
        let bytes = |mib: u64| mib.saturating_mul(1 << 20);
        let block_bytes = keys.block_kib.unwrap_or(4).saturating_mul(1024);
        let order = keys.order.unwrap_or(TaskOrder::Random);
        let in_order = order == TaskOrder::Sequential;
        let is_mapped = keys.mapped.unwrap_or(false);
        let writes_by_call = writes_by_call(keys.op.unwrap_or(OpMix::Read), is_mapped);
        let of_ios = |iops: NonZeroU64| iops.checked_mul(NonZeroU64::new(block_bytes)?);
        let of_kib = |kib: NonZeroU64| kib.checked_mul(NonZeroU64::new(1024)?);
        Task {
            volume: keys.volume.unwrap_or_default(),
            offset: keys.offset_mib.map_or(0, bytes),
            size: keys.size_mib.map(bytes),
            op: keys.op.unwrap_or(OpMix::Read),
            read_percent: keys.read_percent.unwrap_or(50),
            order,
            block_bytes,
            hole_bytes: keys.hole_kib.filter(|_| in_order).unwrap_or(0).saturating_mul(1024),
            stream: keys.stream.filter(|_| in_order).unwrap_or_default(),
            direct: keys.direct.unwrap_or(true),
            keeps_cache: keys.keeps_cache.unwrap_or(false),
            mapped: is_mapped,
            advice: keys.advice.unwrap_or_default(),
            sync: writes_by_call && keys.sync.unwrap_or(false),
            fsync_every: keys.fsync_every.filter(|_| writes_by_call),
            fdatasync_every: keys.fdatasync_every.filter(|_| writes_by_call),
            end_fsync: writes_by_call && keys.end_fsync.unwrap_or(false),
            bytes: keys.bytes_mib.filter(|_| !tasks.background).map(bytes),
            ios: keys.ios.filter(|_| !tasks.background).map(NonZeroU64::get),
            depth: keys.depth.unwrap_or(1),
            think: keys.think_ms.map(|ms| Think {
                pause: Span::from_ns((ms * 1e6) as u64),
                every: keys.burst_ios.unwrap_or(1),
            }),
            bytes_per_s: keys.rate_iops.and_then(of_ios).or(keys.rate_kib_per_s.and_then(of_kib)),
        }
    }
}

impl Task {
    /// The distance between the starts of two consecutive I/Os of one task, in bytes.
    #[must_use]
    pub const fn stride(&self) -> u64 {
        self.block_bytes.saturating_add(self.hole_bytes)
    }

    /// Whether it bypasses the page cache; mapped access never does.
    pub(super) const fn is_direct(&self) -> bool {
        self.direct && !self.mapped
    }

    /// Whether it writes with system calls rather than through a mapping.
    pub(super) const fn writes_by_call(&self) -> bool {
        writes_by_call(self.op, self.mapped)
    }

    /// Whether it ends by itself.
    #[must_use]
    pub const fn has_end(&self) -> bool {
        self.bytes.is_some() || self.ios.is_some()
    }
}
