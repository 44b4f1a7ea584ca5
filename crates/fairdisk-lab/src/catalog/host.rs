//! Host files: `catalog/hosts/<id>.toml`.

use super::error::CatalogError;
use super::library::{Document, check_id};
use super::source::Source;
use super::text::check_line;
use serde::Deserialize;
use std::fmt::Debug;

/// A machine, as its file describes it.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Its name in the catalogue.
    pub id: String,
    /// One line for lists.
    pub title: String,
    /// Timer ticks a second.
    pub hz: u32,
    /// CPUs.
    pub cpus: u32,
    /// From a completion to the same task's next submission: at least, at most.
    pub turnaround_us: [u64; 2],
    /// From being woken for a request slot to trying for it.
    pub slot_wake_us: u64,
    /// Copying a page of 4 KiB.
    pub page_copy_ns: u64,
    /// Largest read-ahead window.
    pub read_ahead_kib: u64,
    /// Buffered data a task may have on the way to the disk.
    pub write_behind_kib: u64,
    /// Whether reads of indirect blocks carry the metadata hint.
    pub meta_hint: bool,
    /// Memory, and what its page faults cost.
    #[serde(default)]
    pub memory: Memory,
    /// The request queue.
    pub queue: Queue,
    /// ext3 journals.
    pub journal: JournalFile,
}

/// The memory of a host, as far as mapped files go.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, default)]
pub struct Memory {
    /// For the pages of mapped files.
    pub mib: u64,
    /// A page fault, without what it waits for and without copying its page.
    pub fault_ns: u64,
}

impl Default for Memory {
    /// An ordinary machine: 8 GiB, and a fault in a microsecond.
    fn default() -> Self {
        Self { mib: 8192, fault_ns: 1000 }
    }
}

/// The request queue of a host.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Queue {
    /// Request slots in a pool.
    pub requests: u32,
    /// Slots a task may take past a full pool after it had to sleep.
    pub batch_requests: u32,
    /// Longest request that merging builds; 0 turns merging off.
    pub merge_kib_max: u32,
    /// Whether the driver looks at the next request while the disk is busy.
    pub peek: bool,
}

/// The ext3 journals of a host.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct JournalFile {
    /// How long a transaction collects changes.
    pub commit_interval_ms: u64,
    /// Inodes in a block.
    pub inodes_per_block: u32,
    /// Blocks of the log.
    pub blocks: u32,
}

impl Host {
    /// Reads a host file.
    ///
    /// # Errors
    /// The first thing wrong with it.
    pub fn parse(document: &Document) -> Result<Self, CatalogError> {
        let source = Source::of(document);
        let host: Self = source.parse()?;
        check_id(&host.id, &document.id)
            .and_then(|()| check_line("title", &host.title))
            .map_err(|(key, message)| source.error_at_key(&key, message))?;
        let check = |key: &str, good: bool, value: &dyn Debug, allowed: &str| {
            let name = key.rsplit('.').next().unwrap_or(key);
            let message = || format!("`{name}` is {value:?}; allowed: {allowed}");
            if good { Ok(()) } else { Err(source.error_at_key(key, message())) }
        };
        let (hz, [least, most]) = (host.hz, host.turnaround_us);
        check("hz", [100, 250, 300, 1000].contains(&hz), &hz, "100, 250, 300 or 1000")?;
        check("cpus", (1..=1024).contains(&host.cpus), &host.cpus, "1 to 1024")?;
        let allowed = "two numbers, the smaller first";
        check("turnaround_us", least <= most, &host.turnaround_us, allowed)?;
        let requests = host.queue.requests;
        check("queue.requests", (4..=1_000_000).contains(&requests), &requests, "4 to 1000000")?;
        check("read_ahead_kib", host.read_ahead_kib >= 4, &host.read_ahead_kib, "4 or more")?;
        let mib = host.memory.mib;
        check("memory.mib", (16..=1 << 24).contains(&mib), &mib, "16 to 16777216")?;
        let inodes = host.journal.inodes_per_block;
        check("journal.inodes_per_block", inodes > 0, &inodes, "1 or more")?;
        let blocks = host.journal.blocks;
        check("journal.blocks", blocks >= 1024, &blocks, "1024 or more")?;
        let interval = host.journal.commit_interval_ms;
        check("journal.commit_interval_ms", interval > 0, &interval, "1 or more")?;
        Ok(host)
    }
}
