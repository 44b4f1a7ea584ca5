//! What the memory management of kernels 2.6.24 to 2.6.37, and of those of today, does differently,
//! each change as a switch (spec: memory, 1.4, 1.6, 2.3, 2.5, 3.1). Every combination is valid.
//!
//! A switch changes one mechanism, and everything else follows: [`Kernel::cold_ascending`] turns
//! the order of frame numbers, and nothing else.

/// Description of a change that can be on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelSwitch {
    /// The switch's name.
    pub name: &'static str,
    /// The commit that made the change; empty if the specification gives none.
    pub commit: &'static str,
    /// The author of the change.
    pub author: &'static str,
    /// The first release with the change; `None` if no release has it.
    pub release: Option<&'static str>,
    /// One line on what the change does.
    pub summary: &'static str,
}

/// The releases in order. The last one stands for those of today with two lists.
pub const RELEASES: [&str; 15] = [
    "2.6.24", "2.6.25", "2.6.26", "2.6.27", "2.6.28", "2.6.29", "2.6.30", "2.6.31", "2.6.32",
    "2.6.33", "2.6.34", "2.6.35", "2.6.36", "2.6.37", "now",
];

/// What ends a wait for congestion before its time is over: a completion of this class, on any
/// disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NapEnds {
    /// Of a write.
    Write,
    /// Of a synchronous request, reads included.
    Sync,
    /// Of an asynchronous request.
    Async,
}

macro_rules! switches {
    ($($release:expr => { $(
        $field:ident $commit:literal $author:literal $summary:literal;
    )* })*) => {
        /// Which of the changes are on.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Kernel {
            $($(#[doc = $summary] pub $field: bool,)*)*
        }

        /// Every change, by release.
        pub const KERNEL_SWITCHES: &[KernelSwitch] = &[$($(KernelSwitch {
            name: stringify!($field),
            commit: $commit,
            author: $author,
            release: $release,
            summary: $summary,
        },)*)*];

        impl Kernel {
            /// Whether the switch called `name` is on; `None` if there is no such switch.
            #[must_use]
            pub fn get(&self, name: &str) -> Option<bool> {
                self.clone().place(name).map(|place| *place)
            }

            /// The field of the switch called `name`.
            fn place(&mut self, name: &str) -> Option<&mut bool> {
                match name {
                    $($(stringify!($field) => Some(&mut self.$field),)*)*
                    _ => None,
                }
            }
        }
    };
}

impl Kernel {
    /// Turns the switch called `name` on or off. Returns whether there is such a switch.
    pub fn set(&mut self, name: &str, on: bool) -> bool {
        self.place(name).map(|place| *place = on).is_some()
    }

    /// The switches that are on in a release; `None` if the release is unknown. In 2.6.24 all of
    /// them are off.
    #[must_use]
    pub fn of_release(release: &str) -> Option<Self> {
        let last = RELEASES.iter().position(|known| *known == release)?;
        let mut kernel = Self::default();
        for switch in KERNEL_SWITCHES {
            let on = switch.release.is_some_and(|since| RELEASES[..=last].contains(&since));
            kernel.set(switch.name, on);
        }
        Some(kernel)
    }

    /// What ends a wait for congestion early.
    #[must_use]
    pub const fn nap_ends(&self) -> NapEnds {
        if self.throttles {
            return NapEnds::Write;
        }
        match (self.nap_ends_async, self.nap_ends_sync) {
            (true, _) => NapEnds::Async,
            (false, true) => NapEnds::Sync,
            (false, false) => NapEnds::Write,
        }
    }
}

switches! {
    Some("2.6.25") => {
        one_cpu_list "3dfa5721" "Christoph Lameter"
            "a CPU has one list of free pages; cold requests take from its other end";
    }
    Some("2.6.30") => {
        nap_ends_sync "1faa16d2" "Jens Axboe"
            "waits of reclaim for congestion end with any synchronous completion, by mistake";
    }
    Some("2.6.31") => {
        cold_ascending "e084b2d9" "Mel Gorman"
            "pages fetched for a cold request are turned, so that it gets ascending frames";
        evict_once "56e49d21" "Rik van Riel"
            "the active file list is scanned only while it is longer than the inactive one";
        nap_ends_async "8aa7e847" "Jens Axboe"
            "waits of reclaim for congestion end with an asynchronous completion, and no other";
    }
    Some("2.6.32") => {
        list_per_type "5f8dcc21" "Mel Gorman"
            "a CPU has a list of free pages for each type of page";
        too_many_isolated "" "Rik van Riel"
            "direct reclaim waits while reclaimers have taken more pages than the list has left";
    }
    Some("2.6.33") => {
        evict_once_share "b39415b2" "Rik van Riel"
            "what an active list that is left alone would be scanned is not spent on the inactive";
        kswapd_awake_below_min "bb3ab596" "KOSAKI Motohiro"
            "kswapd does not nap between passes while free memory is below min";
        kswapd_sleeps_twice "f50de2d3" "Mel Gorman"
            "kswapd naps and looks once more before it goes to sleep";
    }
    Some("2.6.34") => {
        kswapd_checks_after "45973d74" "Minchan Kim"
            "kswapd looks at free memory after a pass, not before it";
        mapped_once "" "Johannes Weiner"
            "a page used through a mapping goes round the inactive list before it becomes active";
    }
    Some("2.6.35") => {
        buddies_kept "6dda9d55" "Corrado Zoccolo"
            "a free block that may soon join a larger one is used last";
    }
    Some("2.6.36") => {
        exact_count "aa45484" "Christoph Lameter"
            "free pages are counted exactly while kswapd is awake";
        count_after_lists "72853e2" "Mel Gorman"
            "returned pages count as free once they are on the lists, not while they get there";
        drain_and_retry "9ee493c" "Mel Gorman"
            "who reclaimed and gets no page returns all CPUs' lists and looks once more";
    }
    Some("2.6.37") => {
        wait_iff_congested "0e093d99" "Mel Gorman"
            "who reclaimed and gets no page waits only if all dirty pages met are held up";
    }
    Some("now") => {
        refault_activates "" "Johannes Weiner"
            "a page that comes back within the length of the active list goes straight to that";
        refault_ages_active "" "Johannes Weiner"
            "the active list is scanned, however short it is, after a page came back so";
        direct_writes_none "" "Mel Gorman"
            "who reclaims for itself leaves dirty pages to kswapd and the flusher";
        throttles "" "Mel Gorman"
            "reclaim waits for write-back, for pages others took, and for progress, as each ends";
    }
    None => {
        watermark_wait "" "Mel Gorman"
            "who reclaimed and gets no page waits until free memory is above low (a distribution)";
        kswapd_never_naps "" ""
            "kswapd does not nap between passes, whatever they bring: to see the cost of its naps";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_release_has_the_switches_of_those_before_it() {
        assert_eq!(Kernel::of_release("2.6.24"), Some(Kernel::default()));
        for pair in RELEASES.windows(2) {
            let [before, after] = [pair[0], pair[1]].map(|it| Kernel::of_release(it).unwrap());
            for KernelSwitch { name, release, .. } in KERNEL_SWITCHES {
                let is_new = *release == Some(pair[1]);
                assert_eq!(after.get(name), Some(before.get(name).unwrap() || is_new), "{name}");
            }
        }
        assert_eq!(Kernel::of_release("2.6.38"), None);
    }

    #[test]
    fn a_switch_is_set_by_its_name() {
        let mut kernel = Kernel::of_release("2.6.32").unwrap();
        assert!(kernel.cold_ascending && !kernel.watermark_wait);
        assert!(kernel.set("cold_ascending", false) && kernel.set("watermark_wait", true));
        assert!(!kernel.cold_ascending && kernel.watermark_wait);
        assert!(!kernel.set("faster", true));
        assert_eq!(kernel.get("faster"), None);
    }

    #[test]
    fn what_ends_a_nap_was_mistaken_in_one_release() {
        let ends = |release| Kernel::of_release(release).unwrap().nap_ends();
        assert_eq!(ends("2.6.29"), NapEnds::Write);
        assert_eq!(ends("2.6.30"), NapEnds::Sync);
        assert_eq!(ends("2.6.31"), NapEnds::Async);
    }
}
