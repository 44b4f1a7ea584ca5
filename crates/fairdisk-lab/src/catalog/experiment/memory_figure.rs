//! What is told of the memory of a host that has it page by page.

use crate::run::{MemoryRun, PagesAtEnd};
use crate::seconds::in_seconds;
use fairdisk_sim::machine::MemoryUse;

/// A figure of memory. What `/proc/vmstat` counts has its name there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryFigure {
    /// Uses of pages that were in memory and had been used since they came there.
    Hits,
    /// Uses of pages that were read from the disk for this, at once or ahead.
    Misses,
    /// The time that tasks reclaimed or waited for memory, in seconds.
    WaitS,
    /// Pages read from the disk.
    Read,
    /// Those of them that had been read before.
    ReadAgain,
    /// Pages evicted before they were used.
    ThrownAway,
    /// Pages that came back while their eviction was remembered.
    Refault,
    /// Those of them that went to the active list.
    RefaultActivate,
    /// Pages taken.
    Alloc,
    /// Pages freed.
    Free,
    /// Pages that moved to the active list.
    Activate,
    /// Pages that moved back to the inactive list.
    Deactivate,
    /// Pages of the active list scanned.
    Refill,
    /// Pages that kswapd scanned.
    ScanKswapd,
    /// Pages that tasks scanned.
    ScanDirect,
    /// Pages freed by reclaim.
    Steal,
    /// Pages freed by kswapd.
    StealKswapd,
    /// Pages written in order to be evicted.
    Rotated,
    /// Pages that reclaim sent to the disk.
    VmscanWrite,
    /// Rounds of kswapd.
    Rounds,
    /// Naps of kswapd between two passes.
    Naps,
    /// Direct reclaims.
    Stalls,
    /// Those that made progress and got no page.
    WithoutPage,
    /// Free pages at the end.
    FreeAtEnd,
    /// Pages of the inactive list at the end.
    InactiveAtEnd,
    /// Pages of the active list at the end.
    ActiveAtEnd,
    /// Pages of metadata in the page cache at the end.
    Buffers,
}

impl MemoryFigure {
    /// Every figure with its key and its words.
    pub(super) const NAMES: [(Self, &'static str, &'static str); 27] = [
        (Self::Hits, "memory_hits", "memory hits"),
        (Self::Misses, "memory_misses", "memory misses"),
        (Self::WaitS, "memory_wait_s", "memory wait s"),
        (Self::Read, "memory_read", "memory pages read"),
        (Self::ReadAgain, "memory_read_again", "memory pages read again"),
        (Self::ThrownAway, "memory_thrown_away", "memory pages thrown away"),
        (Self::Refault, "memory_workingset_refault", "memory refaults"),
        (Self::RefaultActivate, "memory_workingset_activate", "memory refaults activated"),
        (Self::Alloc, "memory_pgalloc", "memory pages taken"),
        (Self::Free, "memory_pgfree", "memory pages freed"),
        (Self::Activate, "memory_pgactivate", "memory pages activated"),
        (Self::Deactivate, "memory_pgdeactivate", "memory pages deactivated"),
        (Self::Refill, "memory_pgrefill", "memory active pages scanned"),
        (Self::ScanKswapd, "memory_pgscan_kswapd", "memory pages scanned by kswapd"),
        (Self::ScanDirect, "memory_pgscan_direct", "memory pages scanned by tasks"),
        (Self::Steal, "memory_pgsteal", "memory pages reclaimed"),
        (Self::StealKswapd, "memory_kswapd_steal", "memory pages reclaimed by kswapd"),
        (Self::Rotated, "memory_pgrotated", "memory pages rotated"),
        (Self::VmscanWrite, "memory_nr_vmscan_write", "memory pages written by reclaim"),
        (Self::Rounds, "memory_pageoutrun", "memory rounds of kswapd"),
        (Self::Naps, "memory_kswapd_naps", "memory naps of kswapd"),
        (Self::Stalls, "memory_allocstall", "memory direct reclaims"),
        (Self::WithoutPage, "memory_without_page", "memory direct reclaims without page"),
        (Self::FreeAtEnd, "memory_nr_free", "memory pages free at end"),
        (Self::InactiveAtEnd, "memory_nr_inactive_file", "memory pages inactive at end"),
        (Self::ActiveAtEnd, "memory_nr_active_file", "memory pages active at end"),
        (Self::Buffers, "memory_buffers", "memory pages of metadata at end"),
    ];

    /// Every figure.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::NAMES.iter().map(|(figure, ..)| *figure)
    }

    /// Its key and its words.
    pub(super) fn named(self) -> (&'static str, &'static str) {
        let found = Self::NAMES.iter().find(|(figure, ..)| *figure == self);
        found.map_or(("", ""), |(_, key, words)| (key, words))
    }

    /// Its key where it is clear that it is about memory.
    #[must_use]
    pub fn short_key(self) -> &'static str {
        let (key, _) = self.named();
        key.strip_prefix("memory_").unwrap_or(key)
    }

    /// Whether it is known of groups and tasks.
    #[must_use]
    pub const fn is_of_tasks(self) -> bool {
        matches!(self, Self::Hits | Self::Misses | Self::WaitS)
    }

    /// Whether it grows with the length of a run.
    #[must_use]
    pub const fn is_amount(self) -> bool {
        use MemoryFigure::{ActiveAtEnd, Buffers, FreeAtEnd, InactiveAtEnd};
        !matches!(self, FreeAtEnd | InactiveAtEnd | ActiveAtEnd | Buffers)
    }

    /// The figure of a run, and of a subject's part in it.
    #[must_use]
    pub fn of(self, run: &MemoryRun, by: &MemoryUse) -> f64 {
        let MemoryRun { vmstat, at_end: PagesAtEnd { free, inactive, active, buffers }, .. } = run;
        let count = match self {
            Self::WaitS => return in_seconds(by.wait),
            Self::Hits => by.hits,
            Self::Misses => by.misses,
            Self::Read => vmstat.pages_in,
            Self::ReadAgain => vmstat.pages_again,
            Self::ThrownAway => vmstat.thrown_away,
            Self::Refault => vmstat.workingset_refault,
            Self::RefaultActivate => vmstat.workingset_activate,
            Self::Alloc => vmstat.pgalloc,
            Self::Free => vmstat.pgfree,
            Self::Activate => vmstat.pgactivate,
            Self::Deactivate => vmstat.pgdeactivate,
            Self::Refill => vmstat.pgrefill,
            Self::ScanKswapd => vmstat.pgscan_kswapd,
            Self::ScanDirect => vmstat.pgscan_direct,
            Self::Steal => vmstat.pgsteal,
            Self::StealKswapd => vmstat.kswapd_steal,
            Self::Rotated => vmstat.pgrotated,
            Self::VmscanWrite => vmstat.nr_vmscan_write,
            Self::Rounds => vmstat.pageoutrun,
            Self::Naps => vmstat.kswapd_naps,
            Self::Stalls => vmstat.allocstall,
            Self::WithoutPage => vmstat.without_page,
            Self::FreeAtEnd => *free,
            Self::InactiveAtEnd => *inactive,
            Self::ActiveAtEnd => *active,
            Self::Buffers => *buffers,
        };
        count as f64
    }
}
