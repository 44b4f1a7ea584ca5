//! A resolved job.

use std::num::NonZeroU32;

use serde::Serialize;

use super::blocks::BlockSizes;
use super::group::GroupSetting;
use super::pattern::Pattern;
use super::per_direction::PerDirection;
use super::priority::Priority;
use super::span::{DelayNs, Extent, Target};
use super::submission::Submission;

/// One section of a job file, everything decided.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Job {
    /// The section's name, or `name=`.
    pub name: String,
    /// `description=`
    pub description: Option<String>,
    /// Jobs of a phase run together; a phase starts when the one before has ended (`stonewall`).
    pub phase: u32,
    /// It starts when the job above of this name has ended.
    pub wait_for: Option<String>,
    /// Jobs reported together (`new_group`, and every `stonewall`).
    pub report_group: u32,
    /// Whether the jobs of its report group are shown as one.
    pub group_reporting: bool,
    /// How many of it run at once (`numjobs`).
    pub clones: NonZeroU32,
    /// Whether the clones are threads of one process; it decides whether they share an I/O context.
    pub threads: bool,
    /// What it does.
    pub pattern: Pattern,
    /// In which pieces.
    pub blocks: BlockSizes,
    /// On which files.
    pub target: Target,
    /// The part of the target it works on.
    pub size: Extent,
    /// How much I/O it does, when not once over `size`.
    pub io_size: Option<Extent>,
    /// Where that part starts.
    pub offset: Extent,
    /// Added to `offset` for each further clone.
    pub offset_increment: Extent,
    /// How requests are submitted.
    pub submission: Submission,
    /// Whether the page cache is in the way.
    pub caching: Caching,
    /// What forces writes down.
    pub flush: Flush,
    /// When it starts and ends.
    pub schedule: Schedule,
    /// What slows it down on purpose.
    pub pace: Pace,
    /// Where its randomness comes from.
    pub seed: Seed,
    /// Its priority.
    pub priority: Priority,
    /// Its group; `None`: the root.
    pub group: Option<GroupSetting>,
    /// The scheduler asked for (`scheduler=`), when the file asks.
    pub scheduler: Option<String>,
    /// The device of the catalogue asked for (`device=`), when the file asks.
    pub device: Option<String>,
}

/// Whether requests pass the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Caching {
    /// Through the page cache.
    Buffered,
    /// Around it (`direct=1`).
    Direct,
}

/// What forces writes to the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Flush {
    /// How files are opened.
    pub write_sync: WriteSync,
    /// An `fsync` after this many writes.
    pub fsync_writes: Option<NonZeroU32>,
    /// An `fdatasync` after this many writes.
    pub fdatasync_writes: Option<NonZeroU32>,
    /// An `fsync` of every file before the job ends.
    pub at_end: bool,
}

/// `sync=`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteSync {
    /// A write returns when the cache has it.
    None,
    /// A write returns when data and metadata are on the device.
    Sync,
    /// A write returns when the data is on the device.
    DataSync,
}

/// When a job starts and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Schedule {
    /// Waited before the first request.
    pub start_delay: DelayNs,
    /// Run before anything is measured, on top of `runtime_ns`.
    pub ramp_ns: u64,
    /// The end at the latest; `None`: when the work is done.
    pub runtime_ns: Option<u64>,
    /// Whether the work is repeated until `runtime_ns`, which is then set.
    pub time_based: bool,
    /// How often the work is done.
    pub loops: NonZeroU32,
    /// The end after so many requests, if the work lasts that long.
    pub ios_max: Option<u64>,
}

/// What slows a job down on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Pace {
    /// Pauses between requests.
    pub think: Option<Think>,
    /// Bytes each second at most.
    pub bytes_per_s: PerDirection<Option<u64>>,
    /// Requests each second at most.
    pub ios_per_s: PerDirection<Option<u64>>,
}

/// A pause after every so many requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Think {
    /// How long.
    pub pause_ns: u64,
    /// After how many completed requests.
    pub every_ios: NonZeroU32,
}

/// Where a job's randomness comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Seed {
    /// `randseed=`
    Given(u64),
    /// The same in every run (`randrepeat=1`, fio's default).
    Repeated {
        /// Block sizes and mixes as well as offsets (`allrandrepeat=1`).
        everything: bool,
    },
    /// Another in every run of fio (`randrepeat=0`); here it follows the run's own seed.
    Fresh,
}
