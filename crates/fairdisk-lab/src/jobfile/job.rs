//! A resolved job.

use std::num::NonZeroU32;

use serde::Serialize;

use super::blocks::BlockSizes;
use super::flow::Flow;
use super::group::GroupSetting;
use super::pattern::Pattern;
use super::per_op::PerOp;
use super::priority::Priority;
use super::read_back::ReadBack;
use super::serving::Serving;
use super::span::{DelayNs, Extent, Target};
use super::submission::Submission;
use super::watch::Watch;
use super::zoned::Strides;

/// One section of a job file, with every setting resolved.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Job {
    /// The section's name, or the value of `name=`.
    pub name: String,
    /// The value of `description=`.
    pub description: Option<String>,
    /// The phase. Jobs of a phase run together, and a phase starts when the previous one has ended
    /// (`stonewall`).
    pub phase: u32,
    /// The name of the job above whose end it waits for.
    pub wait_for: Option<String>,
    /// The group of jobs that are reported together (`new_group`, and every `stonewall`).
    pub report_group: u32,
    /// What else ends with the job (`exitall`, `exit_what`), if anything.
    pub ends: Option<Ends>,
    /// Whether it does the rest of its work, uncounted, if it is ended so (`completes`).
    pub completes: bool,
    /// Whether the jobs of its report group are shown as one.
    pub group_reporting: bool,
    /// The number of clones that run at once (`numjobs`).
    pub clones: NonZeroU32,
    /// Whether the clones are threads of one process, which determines whether they share an I/O
    /// context.
    pub threads: bool,
    /// The I/O pattern.
    pub pattern: Pattern,
    /// The block sizes.
    pub blocks: BlockSizes,
    /// What random offsets are multiples of, in bytes, if not the smallest block.
    pub align_bytes: PerOp<Option<u64>>,
    /// The parts of each file to which requests keep for a while.
    pub strides: Option<Strides>,
    /// The files.
    pub target: Target,
    /// How it goes from file to file.
    pub serving: Serving,
    /// The part of the target that it works on.
    pub size: Extent,
    /// The amount of I/O, if not one pass over `size`.
    pub io_size: Option<Extent>,
    /// Where its part of the target starts.
    pub offset: Extent,
    /// Added to `offset` for each further clone.
    pub offset_increment: Extent,
    /// How requests are submitted.
    pub submission: Submission,
    /// Whether requests use the page cache.
    pub caching: Caching,
    /// When writes are made durable.
    pub flush: Flush,
    /// When the job starts and ends.
    pub schedule: Schedule,
    /// Pauses and rate limits.
    pub pace: Pace,
    /// Its part of what several jobs do together.
    pub flow: Option<Flow>,
    /// What it does about what it measures of itself.
    pub watch: Watch,
    /// When it reads back what it has written.
    pub read_back: ReadBack,
    /// The seed of its random numbers.
    pub seed: Seed,
    /// The priority of its requests.
    pub priority: Priority,
    /// The group of the job; `None` for the root group.
    pub group: Option<GroupSetting>,
    /// The scheduler that the file asks for (`scheduler=`).
    pub scheduler: Option<String>,
    /// The device of the catalogue that the file asks for (`device=`).
    pub device: Option<String>,
    /// The disk of an array on which it alone works, counted from 1 (`disk=`).
    pub disk: Option<NonZeroU32>,
}

/// What ends with a job (`exit_what=`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ends {
    /// The jobs of its report group.
    #[default]
    Group,
    /// All jobs that run; those of the next phase begin.
    Running,
    /// All jobs, also those that have not begun.
    All,
}

/// Whether requests use the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Caching {
    /// Requests use the page cache.
    Buffered,
    /// Requests bypass the page cache (`direct=1`).
    Direct,
}

/// When writes are made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Flush {
    /// The mode in which files are opened.
    pub write_sync: WriteSync,
    /// The number of writes after which to call `fsync`.
    pub fsync_writes: Option<NonZeroU32>,
    /// The number of writes after which to call `fdatasync`.
    pub fdatasync_writes: Option<NonZeroU32>,
    /// Whether to call `fsync` on every file before the job ends.
    pub at_end: bool,
    /// Whether to do so after the job's time.
    pub at_close: bool,
}

/// The values of `sync=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteSync {
    /// A write returns when its data is in the page cache.
    None,
    /// A write returns when data and metadata are on the device.
    Sync,
    /// A write returns when the data is on the device.
    DataSync,
}

/// When a job starts and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Schedule {
    /// The delay before the first request.
    pub start_delay: DelayNs,
    /// Time before measuring starts, in addition to `runtime_ns`.
    pub ramp_ns: u64,
    /// The latest end; `None` lets the job run until its work is done.
    pub runtime_ns: Option<u64>,
    /// Whether the work is repeated until `runtime_ns`, which is then set, or until the end of a
    /// run whose length the caller gives.
    pub time_based: bool,
    /// How often the work is done.
    pub loops: NonZeroU32,
    /// The number of requests after which the job ends, if its work lasts that long.
    pub ios_max: Option<u64>,
    /// Whether the job only makes its files (`create_only`).
    pub creates_only: bool,
}

/// Pauses and rate limits of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Pace {
    /// Pauses between requests.
    pub think: Option<Think>,
    /// The highest rate in bytes per second.
    pub bytes_per_s: PerOp<Option<u64>>,
    /// The highest rate in requests per second.
    pub ios_per_s: PerOp<Option<u64>>,
    /// When requests begin that a rate holds back.
    pub arrivals: Arrivals,
}

/// When requests begin that a rate holds back (`rate_process=`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Evenly spaced.
    #[default]
    Linear,
    /// At random: the time from one to the next is distributed exponentially.
    Poisson,
}

/// A pause after a number of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Think {
    /// The length of the pause.
    pub pause_ns: u64,
    /// The number of completed requests between pauses.
    pub every_ios: NonZeroU32,
}

/// The seed of a job's random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Seed {
    /// The value of `randseed=`.
    Given(u64),
    /// One seed for every run (`randrepeat=1`, the default of fio).
    Repeated {
        /// Whether it applies to block sizes and mixes as well as to offsets (`allrandrepeat=1`).
        everything: bool,
    },
    /// A different seed in every run of fio (`randrepeat=0`); here it is derived from the run's
    /// seed.
    Fresh,
}
