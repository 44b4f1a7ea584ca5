//! What is counted of memory that is page by page.

/// A figure of the memory of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryFigure {
    /// Uses of pages that were in memory and had been used since they came there.
    Hits,
    /// Uses of pages that were read from the disk for this, at once or ahead.
    Misses,
    /// Seconds that tasks reclaimed themselves or waited for memory, all together.
    WaitS,
    /// Direct reclaims.
    Allocstall,
    /// Direct reclaims that made progress and got no page.
    WithoutPage,
    /// Rounds of kswapd.
    Pageoutrun,
    /// Naps of kswapd between two passes.
    KswapdNaps,
    /// Pages taken.
    Pgalloc,
    /// Pages freed.
    Pgfree,
    /// Pages that kswapd scanned.
    PgscanKswapd,
    /// Pages that tasks scanned.
    PgscanDirect,
    /// Pages freed by reclaim.
    Pgsteal,
    /// Pages freed by kswapd.
    KswapdSteal,
    /// Pages that moved to the active list.
    Pgactivate,
    /// Pages that moved to the inactive list.
    Pgdeactivate,
    /// Pages of the active list scanned.
    Pgrefill,
    /// Pages that came back while their eviction was remembered.
    WorkingsetRefault,
    /// Those of them that went to the active list.
    WorkingsetActivate,
    /// Pages that moved to the end of the list, written in order to be evicted.
    Pgrotated,
    /// Pages that reclaim wrote, each alone.
    NrVmscanWrite,
    /// Pages evicted before they were used.
    ThrownAway,
    /// Pages that tasks used.
    PagesUsed,
    /// Pages read from the disk.
    PagesIn,
    /// Pages read from the disk that had been read or written before.
    PagesAgain,
    /// KiB free at the end.
    FreeKib,
    /// KiB on the inactive list at the end.
    InactiveKib,
    /// KiB on the active list at the end.
    ActiveKib,
    /// KiB of metadata at the end.
    BuffersKib,
}

impl MemoryFigure {
    /// Every figure with its key and its words.
    pub const ALL: [(Self, &'static str, &'static str); 28] = [
        (Self::Hits, "memory_hits", "memory hits"),
        (Self::Misses, "memory_misses", "memory misses"),
        (Self::WaitS, "memory_wait_s", "memory wait s"),
        (Self::Allocstall, "memory_allocstall", "memory allocstall"),
        (Self::WithoutPage, "memory_without_page", "memory without page"),
        (Self::Pageoutrun, "memory_pageoutrun", "memory pageoutrun"),
        (Self::KswapdNaps, "memory_kswapd_naps", "memory kswapd naps"),
        (Self::Pgalloc, "memory_pgalloc", "memory pgalloc"),
        (Self::Pgfree, "memory_pgfree", "memory pgfree"),
        (Self::PgscanKswapd, "memory_pgscan_kswapd", "memory pgscan_kswapd"),
        (Self::PgscanDirect, "memory_pgscan_direct", "memory pgscan_direct"),
        (Self::Pgsteal, "memory_pgsteal", "memory pgsteal"),
        (Self::KswapdSteal, "memory_kswapd_steal", "memory kswapd_steal"),
        (Self::Pgactivate, "memory_pgactivate", "memory pgactivate"),
        (Self::Pgdeactivate, "memory_pgdeactivate", "memory pgdeactivate"),
        (Self::Pgrefill, "memory_pgrefill", "memory pgrefill"),
        (Self::WorkingsetRefault, "memory_workingset_refault", "memory workingset_refault"),
        (Self::WorkingsetActivate, "memory_workingset_activate", "memory workingset_activate"),
        (Self::Pgrotated, "memory_pgrotated", "memory pgrotated"),
        (Self::NrVmscanWrite, "memory_nr_vmscan_write", "memory nr_vmscan_write"),
        (Self::ThrownAway, "memory_thrown_away", "memory thrown away"),
        (Self::PagesUsed, "memory_pages_used", "memory pages used"),
        (Self::PagesIn, "memory_pages_in", "memory pages in"),
        (Self::PagesAgain, "memory_pages_again", "memory pages again"),
        (Self::FreeKib, "memory_free_kib", "memory free KiB"),
        (Self::InactiveKib, "memory_inactive_kib", "memory inactive KiB"),
        (Self::ActiveKib, "memory_active_kib", "memory active KiB"),
        (Self::BuffersKib, "memory_buffers_kib", "memory buffers KiB"),
    ];

    /// Whether it is known of groups and tasks, and not only of all together.
    pub(super) const fn is_of_tasks(self) -> bool {
        matches!(self, Self::Hits | Self::Misses | Self::WaitS)
    }

    /// Whether it is a state at the end of a run. Others grow with its length.
    pub(super) const fn is_state(self) -> bool {
        matches!(self, Self::FreeKib | Self::InactiveKib | Self::ActiveKib | Self::BuffersKib)
    }
}
