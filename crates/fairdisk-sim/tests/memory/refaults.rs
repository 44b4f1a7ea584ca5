//! Pages that come back after they were evicted, with a kernel that remembers them.

use crate::support::{Reader, cold, kernel, page};
use fairdisk_sim::host::Presence;
use fairdisk_sim::host::memory::{Arrival, Kernel, Mark, MemorySpec, Reclaimer};

impl Reader {
    /// Reads pages that are absent, each in a page that is free.
    pub(crate) fn read_again(&mut self, pages: std::ops::Range<u64>) {
        for at in pages {
            let taken = self.memory.take(self.now, &mut self.by, cold(1), Mark::None);
            assert_eq!(taken, 1, "memory is full");
            self.memory.insert(&mut self.by, page(at), Arrival::Read);
            self.memory.arrived(page(at));
            self.memory.used(page(at));
        }
    }

    /// Uses pages that are in memory, twice.
    pub(crate) fn use_twice(&mut self, pages: std::ops::Range<u64>) {
        for at in pages {
            for _ in 0..2 {
                self.memory.used(page(at));
            }
        }
    }
}

/// A reader with 100 pages on the active list and 500 behind them, of which the first are evicted,
/// `evicted` at least.
fn after_evictions(kernel: Kernel, evicted: u64) -> Reader {
    let mut reader = Reader::with(MemorySpec::new(kernel, 64, 1));
    reader.read(602, Mark::Low);
    reader.use_twice(0..100);
    while reader.memory.vmstat().pgsteal < evicted {
        reader.reclaim_chunk();
    }
    assert_eq!(reader.memory.places().active, 100);
    reader
}

#[test]
fn a_page_that_comes_back_within_the_length_of_the_active_list_joins_it() {
    let mut reader = after_evictions(kernel("now"), 160);
    // 160 pages from 100 on are gone: 161 is the 99th from the end of them.
    reader.read_again(161..162);
    assert_eq!(reader.memory.places().active, 101);
    reader.read_again(120..121);
    assert_eq!(reader.memory.places().active, 101, "that was evicted 140 pages ago");
    let vmstat = reader.memory.vmstat();
    assert_eq!((vmstat.workingset_refault, vmstat.workingset_activate), (2, 1));
}

#[test]
fn an_older_kernel_forgets_what_it_evicts() {
    let mut reader = after_evictions(kernel("2.6.37"), 160);
    reader.read_again(161..162);
    assert_eq!(reader.memory.places().active, 100);
    assert_eq!(reader.memory.vmstat().workingset_refault, 0);
}

#[test]
fn activations_make_evicted_pages_older_where_they_count() {
    let active = |activations_age| {
        let spec = MemorySpec { activations_age, ..MemorySpec::new(kernel("now"), 64, 1) };
        let mut reader = Reader::with(spec);
        reader.read(602, Mark::Low);
        reader.use_twice(0..50);
        (0..2).for_each(|_| assert_eq!(reader.reclaim_chunk(), 32));
        // 30 more are used twice; 110 was evicted 4 before the end of 64, 54 before it.
        reader.use_twice(200..230);
        reader.read_again(54..55);
        reader.memory.places().active
    };
    assert_eq!((active(false), active(true)), (81, 80));
}

/// The part of a loop over `pages` that is found in memory, after ten rounds. When it begins, the
/// active list has 1500 other pages, or as many of the loop itself.
fn hits_of_a_loop(kernel: Kernel, pages: u64, others_are_active: bool) -> f64 {
    let mut reader = Reader::with(MemorySpec::new(kernel, 16, 1));
    let first = if others_are_active { 10_000 } else { 0 };
    let step = |reader: &mut Reader, at: u64| {
        if reader.memory.presence(page(at)) == Presence::Present {
            reader.memory.used(page(at));
            return 1;
        }
        while !reader.memory.is_above(reader.now, Mark::Low) {
            reader.pass(Reclaimer::Kswapd, 4);
        }
        reader.read_again(at..at + 1);
        0
    };
    for _ in 0..2 {
        for at in first..first + 1500 {
            step(&mut reader, at);
        }
    }
    let mut hits = 0;
    for round in 0..20 {
        for at in 0..pages {
            hits += step(&mut reader, at) * u64::from(round >= 10);
        }
    }
    hits as f64 / (10 * pages) as f64
}

#[test]
fn a_loop_that_fits_takes_the_place_of_pages_that_are_used_no_longer() {
    let hits = |release| hits_of_a_loop(kernel(release), 3000, true);
    assert!(hits("2.6.37") < 0.01, "{}", hits("2.6.37"));
    assert!(hits("now") > 0.99, "{}", hits("now"));
}

#[test]
fn a_loop_larger_than_memory_keeps_what_it_has_on_the_active_list() {
    let hits = |release| hits_of_a_loop(kernel(release), 8000, false);
    assert!(hits("2.6.30") < 0.01, "the active list is scanned however short it is");
    let part = 1500.0 / 8000.0;
    assert!((hits("now") - part).abs() < 0.02, "{}", hits("now"));
}
