//! What is counted, under the names of `/proc/vmstat`. There is one zone, so names that have a
//! zone at their end there have none here.

use super::Memory;

/// Counts of one kind: each is a field with a name, and part of what is added.
macro_rules! counts {
    ($(#[doc = $kind:literal])* $counts:ident { $($(#[doc = $what:literal])* $field:ident,)* }) => {
        $(#[doc = $kind])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $counts { $($(#[doc = $what])* pub $field: u64,)* }

        impl $counts {
            /// Adds what was counted elsewhere.
            pub const fn add(&mut self, other: &Self) {
                $(self.$field += other.$field;)*
            }

            /// Each count with its name.
            pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($field), self.$field),)*].into_iter()
            }
        }
    };
}

counts! {
    /// What has happened.
    Vmstat {
        /// Pages taken.
        pgalloc,
        /// Pages freed.
        pgfree,
        /// Pages that moved to the active list.
        pgactivate,
        /// Pages that moved from the active to the inactive list.
        pgdeactivate,
        /// Pages of the active list scanned.
        pgrefill,
        /// Pages that kswapd scanned for eviction.
        pgscan_kswapd,
        /// Pages that tasks scanned for eviction.
        pgscan_direct,
        /// Pages freed by reclaim.
        pgsteal,
        /// Pages freed by kswapd.
        kswapd_steal,
        /// Pages that reclaim sent to the disk, each alone.
        nr_vmscan_write,
        /// Pages that moved to the end of the inactive list, written in order to be evicted.
        pgrotated,
        /// Rounds of kswapd.
        pageoutrun,
        /// Naps of kswapd between two passes; no counter of the kernel.
        kswapd_naps,
        /// Direct reclaims.
        allocstall,
        /// Direct reclaims that made progress and got no page; no counter of the kernel.
        without_page,
        /// Pages that came back while it was remembered when they were evicted.
        workingset_refault,
        /// Those of them that went straight to the active list.
        workingset_activate,
        /// Pages that tasks used; no counter of the kernel.
        pages_used,
        /// Pages read from the disk; the kernel's `pgpgin` has them in KiB, with all that is read.
        pages_in,
        /// Those of them that had been read or written before; no counter of the kernel.
        pages_again,
        /// Different pages read or written since the machine started; no counter of the kernel.
        pages_known,
        /// Pages evicted before they were used; no counter of the kernel.
        thrown_away,
    }
}

counts! {
    /// Where the pages of a machine are. Each is in one place.
    PlaceCounts {
        /// In free blocks.
        free,
        /// Kept by CPUs.
        on_cpus,
        /// With the kernel and programs for good.
        fixed,
        /// Taken, and not used yet.
        in_hands,
        /// In the page cache, and in the buffer of a CPU.
        buffered,
        /// On the inactive list.
        inactive,
        /// On the active list.
        active,
        /// In the hands of those that reclaim.
        isolated,
    }
}

impl Vmstat {
    /// Begins to count again.
    pub(super) fn restart(&mut self) {
        *self = Self { pages_known: self.pages_known, ..Self::default() };
    }
}

impl PlaceCounts {
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
