//! What the tasks of a row do.

use super::{Experiment, IoniceClass};
use fairdisk_core::Span;
use fairdisk_sim::workload::Think;
use serde::Deserialize;
use std::num::{NonZeroU32, NonZeroU64};

/// Reads, writes, or both.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum OpMix {
    /// Reads only.
    Read,
    /// Writes only.
    Write,
    /// Both, by `read_percent`.
    Mixed,
}

/// Where the next I/O lies.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum TaskOrder {
    /// Right behind the last one.
    Sequential,
    /// Anywhere.
    Random,
}

/// Whose position the tasks of a line go on from.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum TaskStream {
    /// Each has its own.
    #[default]
    Own,
    /// Each has every so many blocks, of so many tasks.
    Interleaved,
    /// All take the next block from one position.
    Shared,
}

/// What tasks say about how they will use a mapping.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum TaskAdvice {
    /// Nothing.
    #[default]
    None,
    /// That they will read it at random.
    Random,
    /// That they will read it from front to back.
    Sequential,
}

/// The keys that tasks and the defaults have, each written once.
macro_rules! task_keys {
    ($($key:ident: $kind:ty),* $(,)?) => {
        /// What tasks have that do not say otherwise.
        #[derive(Clone, Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Defaults {
            $(pub(super) $key: Option<$kind>,)*
        }

        /// Some tasks that do the same.
        #[derive(Clone, Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Tasks {
            /// A name, if its tasks are reported by themselves, in one line.
            pub name: Option<String>,
            /// Their group.
            pub group: String,
            /// How many.
            #[serde(default = "one")]
            pub count: u32,
            /// The file all of them use; without it each has a file of its own, picked at random.
            pub file: Option<u32>,
            /// Whether they create their files.
            #[serde(default)]
            pub new: bool,
            /// Whether nobody waits for them: they go on until the others have ended.
            #[serde(default)]
            pub background: bool,
            /// When they begin, after the others.
            pub start_s: Option<f64>,
            /// The tasks above them, by name, that must all have ended before they begin.
            pub after: Option<String>,
            /// The tasks above them, by name, whose files they use, each those of its counterpart.
            pub files_of: Option<String>,
            /// Their `ionice` level, if not the group's.
            pub ionice: Option<u8>,
            /// Their class, likewise.
            pub ionice_class: Option<IoniceClass>,
            $(pub(super) $key: Option<$kind>,)*
        }

        impl Tasks {
            /// What they say, and of the rest what the defaults do.
            fn merged(&self, defaults: &Defaults) -> Defaults {
                Defaults { $($key: self.$key.clone().or_else(|| defaults.$key.clone()),)* }
            }
        }

        impl Defaults {
            /// Whether they say it.
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
    /// What they say, and of the rest what the defaults do. A rate of their own replaces one of the
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

    /// Whether they say it themselves.
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

/// What a task does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// On which volume.
    pub volume: String,
    /// The first byte it uses of its file.
    pub offset: u64,
    /// Bytes it uses from there, if not all.
    pub size: Option<u64>,
    /// Reads, writes, or both.
    pub op: OpMix,
    /// Percentage of reads, if both.
    pub read_percent: u8,
    /// Where the next I/O lies.
    pub order: TaskOrder,
    /// Bytes of an I/O.
    pub block_bytes: u64,
    /// Bytes left out after each of them.
    pub hole_bytes: u64,
    /// Whose position it goes on from.
    pub stream: TaskStream,
    /// Past the page cache.
    pub direct: bool,
    /// Whether what memory has of a file stays when it begins with it.
    pub keeps_cache: bool,
    /// By page faults, through a mapping.
    pub mapped: bool,
    /// What it says about that.
    pub advice: TaskAdvice,
    /// Whether a write returns only when it is durable.
    pub sync: bool,
    /// After how many writes it makes its file durable.
    pub fsync_every: Option<NonZeroU32>,
    /// After how many writes it makes durable what it wrote.
    pub fdatasync_every: Option<NonZeroU32>,
    /// Whether it makes its file durable before it ends.
    pub end_fsync: bool,
    /// After how many bytes it is done.
    pub bytes: Option<u64>,
    /// After how many I/Os it is done.
    pub ios: Option<u64>,
    /// I/Os it keeps in flight.
    pub depth: u32,
    /// When it pauses.
    pub think: Option<Think>,
    /// Bytes a second at most.
    pub bytes_per_s: Option<NonZeroU64>,
}

impl Experiment {
    /// What some tasks do, defaults filled in.
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
    /// From where one of its I/Os begins to where the next one does, were it alone.
    #[must_use]
    pub const fn stride(&self) -> u64 {
        self.block_bytes.saturating_add(self.hole_bytes)
    }

    /// Whether it goes past the page cache: what is mapped never does.
    pub(super) const fn is_direct(&self) -> bool {
        self.direct && !self.mapped
    }

    /// Whether it writes otherwise than by changing a mapping.
    pub(super) const fn writes_by_call(&self) -> bool {
        writes_by_call(self.op, self.mapped)
    }

    /// Whether it comes to its end by itself.
    #[must_use]
    pub const fn has_end(&self) -> bool {
        self.bytes.is_some() || self.ios.is_some()
    }
}
