//! What is counted, under the names of `/proc/vmstat`. There is one zone, so names that have a
//! zone at their end there have none here.

use super::Memory;

/// What has happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vmstat {
    /// Pages taken.
    pub pgalloc: u64,
    /// Pages freed.
    pub pgfree: u64,
    /// Pages that moved to the active list.
    pub pgactivate: u64,
    /// Pages that moved from the active to the inactive list.
    pub pgdeactivate: u64,
    /// Pages of the active list scanned.
    pub pgrefill: u64,
    /// Pages that kswapd scanned for eviction.
    pub pgscan_kswapd: u64,
    /// Pages that tasks scanned for eviction.
    pub pgscan_direct: u64,
    /// Pages freed by reclaim.
    pub pgsteal: u64,
    /// Pages freed by kswapd.
    pub kswapd_steal: u64,
    /// Pages that reclaim sent to the disk, each alone.
    pub nr_vmscan_write: u64,
    /// Pages that moved to the end of the inactive list, written in order to be evicted.
    pub pgrotated: u64,
    /// Rounds of kswapd.
    pub pageoutrun: u64,
    /// Naps of kswapd between two passes; no counter of the kernel.
    pub kswapd_naps: u64,
    /// Direct reclaims.
    pub allocstall: u64,
    /// Direct reclaims that made progress and got no page; no counter of the kernel.
    pub without_page: u64,
    /// Pages that came back while it was remembered when they were evicted.
    pub workingset_refault: u64,
    /// Those of them that went straight to the active list.
    pub workingset_activate: u64,
    /// Pages that tasks used; no counter of the kernel.
    pub pages_used: u64,
    /// Pages read from the disk; the kernel's `pgpgin` has them in KiB, with all else that is read.
    pub pages_in: u64,
    /// Those of them that had been read or written before; no counter of the kernel.
    pub pages_again: u64,
    /// Different pages read or written since the machine started; no counter of the kernel.
    pub pages_known: u64,
    /// Pages evicted before they were used; no counter of the kernel.
    pub thrown_away: u64,
}

impl Vmstat {
    /// Begins to count again.
    pub(super) fn restart(&mut self) {
        *self = Self { pages_known: self.pages_known, ..Self::default() };
    }

    /// Adds what has happened elsewhere.
    pub const fn add(&mut self, other: &Self) {
        self.pgalloc += other.pgalloc;
        self.pgfree += other.pgfree;
        self.pgactivate += other.pgactivate;
        self.pgdeactivate += other.pgdeactivate;
        self.pgrefill += other.pgrefill;
        self.pgscan_kswapd += other.pgscan_kswapd;
        self.pgscan_direct += other.pgscan_direct;
        self.pgsteal += other.pgsteal;
        self.kswapd_steal += other.kswapd_steal;
        self.nr_vmscan_write += other.nr_vmscan_write;
        self.pgrotated += other.pgrotated;
        self.pageoutrun += other.pageoutrun;
        self.kswapd_naps += other.kswapd_naps;
        self.allocstall += other.allocstall;
        self.without_page += other.without_page;
        self.workingset_refault += other.workingset_refault;
        self.workingset_activate += other.workingset_activate;
        self.pages_used += other.pages_used;
        self.pages_in += other.pages_in;
        self.pages_again += other.pages_again;
        self.pages_known += other.pages_known;
        self.thrown_away += other.thrown_away;
    }
}

/// Where the pages of a machine are. Each is in one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlaceCounts {
    /// In free blocks.
    pub free: u64,
    /// Kept by CPUs.
    pub on_cpus: u64,
    /// With the kernel and programs for good.
    pub fixed: u64,
    /// Taken, and not used yet.
    pub in_hands: u64,
    /// In the page cache, and in the buffer of a CPU.
    pub buffered: u64,
    /// On the inactive list.
    pub inactive: u64,
    /// On the active list.
    pub active: u64,
    /// In the hands of those that reclaim.
    pub isolated: u64,
}

impl PlaceCounts {
    /// Adds those of another machine.
    pub const fn add(&mut self, other: &Self) {
        self.free += other.free;
        self.on_cpus += other.on_cpus;
        self.fixed += other.fixed;
        self.in_hands += other.in_hands;
        self.buffered += other.buffered;
        self.inactive += other.inactive;
        self.active += other.active;
        self.isolated += other.isolated;
    }

    /// All pages: those of the machine.
    #[must_use]
    pub const fn all(&self) -> u64 {
        self.free + self.on_cpus + self.fixed + self.in_hands + self.cached()
    }

    /// Pages in the page cache, and pages dropped from it that reclaim has in its hands.
    #[must_use]
    pub const fn cached(&self) -> u64 {
        self.buffered + self.inactive + self.active + self.isolated
    }
}

impl Memory {
    /// Counts uses of pages by tasks.
    pub(in crate::host) const fn count_used(&mut self, pages: u64) {
        self.vmstat.pages_used += pages;
    }

    /// Counts a page that is read from the disk, and whether it is new.
    pub(in crate::host) const fn count_read(&mut self, is_new: bool) {
        self.vmstat.pages_in += 1;
        self.vmstat.pages_again += !is_new as u64;
        self.count_known(is_new);
    }

    /// Counts a page that is read or written, if it is new.
    pub(in crate::host) const fn count_known(&mut self, is_new: bool) {
        self.vmstat.pages_known += is_new as u64;
    }

    /// Begins to count again.
    pub(crate) fn restart_counts(&mut self) {
        self.vmstat.restart();
    }

    /// Counts a direct reclaim that made progress and got no page.
    pub const fn count_without_page(&mut self) {
        self.vmstat.without_page += 1;
    }
}
