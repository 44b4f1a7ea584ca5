//! Host files: `catalog/hosts/<id>.toml`.

use super::allowed::{Wrong, demand, demand_within};
use super::error::CatalogError;
use super::inherit::flatten;
use super::library::{Document, Kind, check_id, find};
use super::memory::Memory;
use super::overrides::{Override, read};
use super::pair::pair;
use super::source::Source;
use super::text::check_line;
use super::write_back::WriteBack;
use serde::{Deserialize, Serialize};

/// A host, as its file describes it.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// The host's id in the catalogue.
    pub id: String,
    /// One line for lists.
    pub title: String,
    /// Timer ticks per second.
    pub hz: u32,
    /// The number of CPUs.
    pub cpus: u32,
    /// Whether the disks of a JBOD run together, on one machine, as they do if memory has a kernel;
    /// otherwise each runs on a machine of its own with its part of the memory and all CPUs.
    #[serde(default)]
    pub disks_together: bool,
    /// CPU time between an I/O completion and the same task's next submission: minimum, maximum.
    #[serde(deserialize_with = "pair")]
    pub turnaround_us: [u64; 2],
    /// CPU time from being woken for a request slot to trying to get it.
    pub slot_wake_us: u64,
    /// CPU time from being woken for a block of addresses to submitting what it maps.
    pub metadata_wake_us: u64,
    /// CPU time to copy a page of 4 KiB.
    pub page_copy_ns: u64,
    /// The largest read-ahead window.
    pub read_ahead_kib: u64,
    /// Buffered data that a task may have on its way to the disk, if it is sent there at once.
    pub write_behind_kib: u64,
    /// Whether reads of indirect blocks carry the metadata hint.
    pub meta_hint: bool,
    /// Memory and the cost of page faults.
    #[serde(default)]
    pub memory: Memory,
    /// How dirty pages are held in memory; without this, buffered data is sent to the disk at once.
    pub write_back: Option<WriteBack>,
    /// The request queue.
    pub queue: Queue,
    /// How an idle device is plugged; without this, it is not.
    pub plug: Option<Plug>,
    /// The ext3 journals.
    pub journal: JournalFile,
}

/// The request queue of a host.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Queue {
    /// Request slots in each pool.
    pub requests: u32,
    /// Slots that a task may take from a full pool after it had to sleep.
    pub batch_requests: u32,
    /// The longest request that merging may build; 0 disables merging.
    pub merge_kib_max: u32,
    /// Whether the driver looks at the next request while the disk is busy.
    pub peek: bool,
    /// The most requests at the disk at once; 0: as many as it takes.
    #[serde(default)]
    pub depth: u32,
    /// Whether schedulers are told what requests cost the disk.
    #[serde(default = "yes")]
    pub tells_costs: bool,
}

const fn yes() -> bool {
    true
}

/// How a host plugs an idle device.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Plug {
    /// The number of queued requests at which the device starts.
    pub requests: u32,
    /// The longest time the device stays plugged.
    pub delay_ms: u64,
}

/// The ext3 journals of a host.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct JournalFile {
    /// How long a transaction collects changes.
    pub commit_interval_ms: u64,
    /// Inodes per block.
    pub inodes_per_block: u32,
    /// Blocks in the log.
    pub blocks: u32,
    /// The `nice` value of the journal tasks, from which their I/O priority is derived.
    #[serde(default)]
    pub nice: i64,
}

impl Host {
    /// Loads a host of the catalogue or of a file, changed by `overrides`.
    pub(crate) fn load(name: &str, overrides: &[Override]) -> Result<Self, CatalogError> {
        let document = flatten(Kind::Host, find(Kind::Host, name)?)?;
        read(&document, &["host"], overrides, Self::parse)
    }

    /// Parses a host file.
    ///
    /// # Errors
    /// Returns the first fault of the file.
    pub fn parse(document: &Document) -> Result<Self, CatalogError> {
        let source = Source::of(document);
        let host: Self = source.parse()?;
        host.check().map_err(|wrong| source.wrong(wrong))?;
        Ok(host)
    }

    /// Whether the disks of a JBOD run on one machine.
    #[must_use]
    pub fn runs_disks_together(&self) -> bool {
        self.disks_together || self.memory.kernel.is_some()
    }

    /// Checks that its values can be run: times and sizes that no host has would overflow.
    fn check(&self) -> Result<(), Wrong> {
        check_id(&self.id)?;
        check_line("title", &self.title)?;
        demand([100, 250, 300, 1000].contains(&self.hz), "hz", self.hz, "100, 250, 300 or 1000")?;
        let [least, most] = self.turnaround_us;
        // If nothing took any time, time would not advance.
        let allowed = "two numbers up to 1000000, the smaller first, the larger at least 1";
        let text = format!("[{least}, {most}]");
        let fits = least <= most && (1..=SECOND_US).contains(&most);
        demand(fits, "turnaround_us", text, allowed)?;
        let Self { queue, journal, .. } = self;
        let values = [
            ("cpus", self.cpus.into(), 1..=1024),
            ("slot_wake_us", self.slot_wake_us, 0..=SECOND_US),
            ("metadata_wake_us", self.metadata_wake_us, 0..=SECOND_US),
            ("page_copy_ns", self.page_copy_ns, 1..=1_000_000_000),
            ("read_ahead_kib", self.read_ahead_kib, 4..=GIB_KIB),
            ("write_behind_kib", self.write_behind_kib, 0..=1024 * GIB_KIB),
            ("queue.requests", queue.requests.into(), 4..=1_000_000),
            ("queue.batch_requests", queue.batch_requests.into(), 0..=1_000_000),
            ("queue.depth", queue.depth.into(), 0..=65_536),
            ("queue.merge_kib_max", queue.merge_kib_max.into(), 0..=GIB_KIB),
            ("journal.commit_interval_ms", journal.commit_interval_ms, 1..=3_600_000),
            ("journal.inodes_per_block", journal.inodes_per_block.into(), 1..=65_536),
            ("journal.blocks", journal.blocks.into(), 1024..=GIB_KIB),
        ];
        demand_within(-20..=19, "journal.nice", journal.nice)?;
        self.memory.check(self.cpus)?;
        let plug = self.plug.map(|plug| {
            let (requests, delay) = (u64::from(plug.requests), plug.delay_ms);
            [("plug.requests", requests, 1..=1_000_000), ("plug.delay_ms", delay, 0..=1000)]
        });
        self.write_back.map_or(Ok(()), |back| back.check())?;
        let mut values = values.into_iter().chain(plug.into_iter().flatten());
        values.try_for_each(|(path, value, range)| demand_within(range, path, value))
    }
}

/// Microseconds per second.
const SECOND_US: u64 = 1_000_000;
/// KiB per GiB.
pub(super) const GIB_KIB: u64 = 1 << 20;
