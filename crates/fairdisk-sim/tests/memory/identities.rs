//! What the specification demands of memory alone (spec: memory, 1.5 and 6.5).

use crate::counting::allocations;
use crate::support::{Reader, cold, kernel, page};
use fairdisk_core::{Prng, Span};
use fairdisk_sim::host::Presence;
use fairdisk_sim::host::memory::{
    Arrival, DirectStep, Kswapd, KswapdStep, Mark, Memory, MemorySpec, PageId, RELEASES, Reclaimer,
    Unfit,
};

/// The first test case of a reclaim that makes progress and gets no page.
#[test]
fn what_is_reclaimed_does_not_count_as_free_until_a_batch_is_returned() {
    let mut reader = Reader::new(kernel("2.6.32"));
    reader.fill_to_an_empty_list();
    let free = reader.memory.free_seen(reader.now);
    for reclaim in 1..=2 {
        assert_eq!(reader.reclaim_chunk(), 32);
        assert_eq!(reader.memory.free_seen(reader.now), free, "reclaim {reclaim}");
        assert_eq!(reader.read(1, Mark::Min), 0, "progress, and no page");
    }
    assert_eq!(reader.reclaim_chunk(), 32);
    assert_eq!(reader.memory.free_seen(reader.now), free + 15, "the third returns a batch");
    assert_eq!(reader.memory.places().on_cpus, 3 * 32 - 15);
    assert_eq!(reader.read(1, Mark::Min), 1);
}

/// Pages on the inactive list from which on the first chunk is scanned at priority 10, by the
/// percentage of scanning that goes to pages of files (spec 3.3).
const THRESHOLDS: [(u64, u64); 7] = [
    (100, 19_456),
    (99, 20_480),
    (90, 22_528),
    (80, 24_576),
    (70, 28_672),
    (60, 32_768),
    (50, 38_912),
];

/// kswapd's steps up to the one after the first chunk, with so many pages on the inactive list.
fn first_steps(release: &str, file_share_percent: u64, pages: u64) -> Vec<KswapdStep> {
    let mut spec = MemorySpec::new(kernel(release), 256, 1);
    spec.file_share_percent = file_share_percent;
    // As many as there are, plus about what is free at the low mark.
    spec.used_pages = 64_640 - pages - 620;
    let mut reader = Reader::with(spec);
    let more = pages.next_multiple_of(14);
    assert_eq!(u64::from(reader.read(more as u32, Mark::None)), more);
    (pages..more).for_each(|at| reader.memory.drop_page(reader.now, 0, page(at)));
    assert_eq!(reader.memory.places().inactive, pages);
    let mut kswapd = Kswapd::default();
    assert!(kswapd.wake(&mut reader.memory, reader.now));
    let mut steps = Vec::new();
    while reader.memory.vmstat().pgscan_kswapd == 0 {
        steps.extend(reader.run_kswapd(&mut kswapd, 1));
    }
    steps.extend(reader.run_kswapd(&mut kswapd, 1));
    steps
}

#[test]
fn kswapd_naps_after_a_chunk_if_the_inactive_list_is_too_short() {
    use KswapdStep::{Nap, Pass};
    for (share, pages) in THRESHOLDS {
        let enough = first_steps("2.6.32", share, pages);
        assert_eq!(enough, [Pass(12), Pass(11), Pass(10), Pass(12)], "{share} %");
        let too_few = first_steps("2.6.32", share, pages - 1);
        assert_eq!(too_few, [Pass(12), Pass(11), Pass(10), Pass(9), Nap], "{share} %");
    }
    let below_min = first_steps("2.6.33", 100, THRESHOLDS[0].1 - 1);
    assert_eq!(below_min.last(), Some(&Nap), "it is above min");
}

#[test]
fn what_is_too_little_to_scan_is_saved_for_whoever_comes_next() {
    let mut reader = Reader::new(kernel("2.6.32"));
    reader.read(14 * 100, Mark::None);
    // 1400 pages are less than 1 of 4096, and 21 of 64: the second pass of anyone scans 42.
    let scanned: Vec<u32> = [
        reader.pass(Reclaimer::Kswapd, 12),
        reader.pass(Reclaimer::Direct, 6),
        reader.pass(Reclaimer::Kswapd, 6),
        reader.pass(Reclaimer::Direct, 6),
    ]
    .map(|pass| pass.scanned())
    .to_vec();
    assert_eq!(scanned, [0, 0, 42, 0]);
}

#[test]
fn whoever_reclaims_for_itself_stops_when_it_has_enough_unless_it_only_began() {
    for (priority, who, freed) in [
        (0, Reclaimer::Direct, 64),
        (0, Reclaimer::Kswapd, 1400),
        (1, Reclaimer::Direct, 64),
        (1, Reclaimer::Kswapd, 700),
    ] {
        let mut reader = Reader::new(kernel("2.6.32"));
        reader.read(1400, Mark::None);
        assert_eq!(reader.pass(who, priority).freed(), freed, "{who:?} at {priority}");
    }
}

fn frames(reader: &Reader, pages: std::ops::Range<u64>) -> Vec<u32> {
    pages.map(|at| reader.memory.frame(page(at)).expect("it is in memory")).collect()
}

#[test]
fn a_reader_gets_ascending_frames_or_descending_ones_in_each_batch() {
    for release in RELEASES {
        let mut reader = Reader::new(kernel(release));
        // The block at the end of memory is the one returned last. It has 128 frames.
        reader.read(120, Mark::Low);
        let ascends = |batch: &[u32]| batch.windows(2).all(|pair| pair[1] == pair[0] + 1);
        let frames = frames(&reader, 0..120);
        match release {
            "2.6.25" | "2.6.26" | "2.6.27" | "2.6.28" | "2.6.29" | "2.6.30" => {
                for batch in frames.chunks(15) {
                    assert!(ascends(&batch.iter().rev().copied().collect::<Vec<_>>()));
                }
                assert_eq!(frames[15], frames[0] + 15);
            }
            _ => assert!(ascends(&frames), "{release}: {frames:?}"),
        }
    }
}

/// Spec 1.5: inside a group of 14, pages come back in the order in which they were read.
#[test]
fn frames_come_back_from_reclaim_in_groups_that_keep_their_order() {
    for release in ["2.6.24", "2.6.30", "2.6.32"] {
        let mut reader = Reader::new(kernel(release));
        reader.fill_to_an_empty_list();
        let before = frames(&reader, 0..32);
        assert_eq!(reader.reclaim_chunk(), 32);
        let first = reader.next;
        assert_eq!(reader.read(32, Mark::None), 32);
        let after = frames(&reader, first..first + 32);
        if release == "2.6.24" {
            // The list of cold pages is full at 30 and returns 7 of those freed first.
            continue;
        }
        let order = (28..32).chain(14..28).chain(0..14);
        assert!(order.map(|at: usize| before[at]).eq(after), "{release}");
    }
}

#[test]
fn a_page_used_twice_is_active_and_one_used_once_is_evicted() {
    let mut reader = Reader::new(kernel("2.6.32"));
    reader.read(28, Mark::Low);
    for at in [0, 1, 1] {
        reader.memory.used(page(at));
    }
    assert_eq!(reader.memory.places().active, 1);
    assert_eq!(reader.memory.vmstat().pgactivate, 1);
    for priority in [0, 0] {
        reader.pass(Reclaimer::Kswapd, priority);
    }
    assert_eq!(reader.memory.presence(page(0)), Presence::Absent);
    assert_eq!(reader.memory.presence(page(1)), Presence::Present);
    assert_eq!(reader.memory.vmstat().thrown_away, 26, "all but the two were never used");
}

#[test]
fn a_page_in_the_buffer_of_a_cpu_is_on_no_list() {
    let mut reader = Reader::new(kernel("2.6.32"));
    reader.read(13, Mark::Low);
    (0..2).for_each(|_| {
        reader.memory.used(page(3));
    });
    let places = reader.memory.places();
    assert_eq!((places.buffered, places.inactive, places.active), (13, 0, 0));
    reader.read(1, Mark::Low);
    assert_eq!(reader.memory.places().inactive, 14);
    reader.memory.used(page(3));
    assert_eq!(reader.memory.places().active, 1, "it was used before");
}

#[test]
fn a_page_used_through_a_mapping_has_a_round_more() {
    let mut reader = Reader::new(kernel("2.6.32"));
    reader.read(42, Mark::Low);
    reader.memory.used_through_mapping(page(0));
    reader.pass(Reclaimer::Kswapd, 0);
    let places = reader.memory.places();
    assert_eq!((places.inactive, places.active), (0, 1));
    // It goes back to the inactive list once its share of scanning is a chunk, and leaves.
    for _ in 0..64 {
        reader.pass(Reclaimer::Kswapd, 0);
    }
    assert_eq!(reader.memory.presence(page(0)), Presence::Absent);
}

#[test]
fn a_page_on_its_way_goes_back_to_the_head() {
    let mut reader = Reader::new(kernel("2.6.32"));
    let taken = reader.memory.take(reader.now, &mut reader.by, cold(1), Mark::Low);
    assert_eq!(taken, 1);
    let coming = page(1000);
    reader.memory.insert(&mut reader.by, coming, Arrival::Read);
    reader.read(55, Mark::Low);
    let pass = reader.pass(Reclaimer::Kswapd, 0);
    assert_eq!((pass.scanned(), pass.freed()), (56, 55));
    assert_eq!(reader.memory.presence(coming), Presence::Coming);
}

#[test]
fn a_dirty_page_is_written_alone_by_who_finds_it_and_then_is_next() {
    let mut reader = Reader::new(kernel("2.6.32"));
    reader.read(56, Mark::Low);
    reader.memory.dirtied(page(2));
    reader.memory.dirtied(page(3));
    reader.memory.used(page(3));
    let mut pass = reader.memory.pass(Reclaimer::Direct, 12);
    assert_eq!(reader.memory.isolate(0, &mut pass), 0, "too little");
    let mut pass = reader.memory.pass(Reclaimer::Direct, 0);
    assert_eq!(reader.memory.isolate(0, &mut pass), 32);
    let evicted = reader.memory.evict(reader.now, 0, &mut pass, |_| true);
    assert_eq!((evicted.freed, evicted.dirty, evicted.held_up), (30, 2, 0));
    assert_eq!(reader.memory.dirty_found(), [page(2)], "the other was used");
    assert!(reader.memory.is_held(page(2)));
    // It has come back to the head; once it is written it is at the tail.
    reader.memory.written(page(2));
    assert_eq!(reader.memory.vmstat().pgrotated, 1);
    assert_eq!(reader.memory.isolate(0, &mut pass), 24);
    reader.memory.evict(reader.now, 0, &mut pass, |_| true);
    assert_eq!(reader.memory.presence(page(2)), Presence::Absent);
}

#[test]
fn dirty_pages_of_a_congested_disk_stay_and_are_told() {
    let mut reader = Reader::new(kernel("2.6.37"));
    reader.read(42, Mark::Low);
    reader.memory.dirtied(page(2));
    let mut pass = reader.memory.pass(Reclaimer::Direct, 0);
    reader.memory.isolate(0, &mut pass);
    let evicted = reader.memory.evict(reader.now, 0, &mut pass, |_| false);
    assert_eq!((evicted.freed, evicted.dirty, evicted.held_up), (31, 1, 1));
    assert!(reader.memory.dirty_found().is_empty() && reader.memory.is_congested());
}

#[test]
fn a_page_dropped_while_it_is_being_evicted_is_freed_with_the_others() {
    let mut reader = Reader::new(kernel("2.6.32"));
    reader.read(42, Mark::Low);
    let mut pass = reader.memory.pass(Reclaimer::Direct, 0);
    assert_eq!(reader.memory.isolate(0, &mut pass), 32);
    reader.memory.drop_page(reader.now, 0, page(5));
    assert_eq!(reader.memory.places().isolated, 32);
    assert_eq!(reader.memory.evict(reader.now, 0, &mut pass, |_| true).freed, 32);
    assert_eq!(reader.memory.places().all(), reader.memory.pages());
}

#[test]
fn metadata_takes_memory_and_becomes_active() {
    let mut reader = Reader::new(kernel("2.6.32"));
    let block = PageId::of_metadata(0, 7);
    reader.memory.take(reader.now, &mut reader.by, cold(1), Mark::Low);
    reader.memory.insert(&mut reader.by, block, Arrival::Read);
    reader.memory.arrived(block);
    reader.read(13, Mark::Low);
    (0..2).for_each(|_| {
        reader.memory.used(block);
    });
    assert_eq!((reader.memory.buffers(), reader.memory.places().active), (1, 1));
    reader.memory.drop_page(reader.now, 0, block);
    assert_eq!((reader.memory.buffers(), reader.memory.places().active), (0, 0));
}

#[test]
fn the_mark_of_read_ahead_is_on_the_page_for_whoever_comes() {
    let mut reader = Reader::new(kernel("2.6.32"));
    reader.read(2, Mark::Low);
    reader.memory.set_mark(page(1));
    assert!(reader.memory.has_mark(page(1)) && !reader.memory.has_mark(page(0)));
    assert!(reader.memory.clear_mark(page(1)) && !reader.memory.clear_mark(page(1)));
}

#[test]
fn memory_is_worn_to_the_mean_order_that_is_wanted() {
    let spec = |hundredths| MemorySpec {
        used_pages: 2412,
        mean_order_hundredths: Some(hundredths),
        ..MemorySpec::new(kernel("2.6.32"), 256, 1)
    };
    let new = |hundredths, seed| Memory::new(spec(hundredths), &mut Prng::new(seed));
    for wanted in [900, 700, 500] {
        let memory = new(wanted, 7).expect("it can be worn so far");
        let order = memory.mean_order_hundredths();
        assert!(order <= wanted && order + 5 > wanted, "{order} for {wanted}");
        assert_eq!(memory.free_blocks(), new(wanted, 7).expect("it fits").free_blocks());
        assert_ne!(memory.free_blocks(), new(wanted, 8).expect("it fits").free_blocks());
        assert_eq!(memory.places().all(), memory.pages());
    }
    let Err(Unfit::MeanOrder { least_hundredths }) = new(100, 7) else { panic!("it is too few") };
    assert!((300..500).contains(&least_hundredths), "{least_hundredths}");
}

#[test]
fn there_is_no_memory_smaller_than_what_is_in_use_for_good() {
    let spec = MemorySpec { anonymous_pages: 4000, ..MemorySpec::new(kernel("2.6.32"), 16, 1) };
    let unfit = Memory::new(spec, &mut Prng::new(0)).expect_err("4040 pages");
    let Unfit::TooSmall { present, needed } = unfit else { panic!("{unfit:?}") };
    assert!(present == 4040 && needed > 4000 + 180);
}

#[test]
fn anonymous_memory_is_scanned_and_stays() {
    let spec = MemorySpec {
        anonymous_pages: 20_000,
        file_share_percent: 60,
        ..MemorySpec::new(kernel("2.6.32"), 256, 1)
    };
    let mut reader = Reader::with(spec);
    let pass = reader.pass(Reclaimer::Direct, 7);
    // 156 of 20000 pages, and 40 percent of them.
    assert_eq!((pass.scanned(), pass.freed()), (62, 0));
}

#[test]
fn direct_reclaim_asks_whether_it_has_enough_before_it_naps() {
    use DirectStep::{Done, Nap, Pass, WakeFlushers};
    let mut reader = Reader::new(kernel("2.6.32"));
    reader.fill(Mark::Min);
    // 15 of 64000 pages, then 31 more: 46 are scanned, as 32 of them are not more than enough.
    assert_eq!(reader.reclaim(), [Pass(12), Pass(11), Done(46)]);
    let mut reader = Reader::with(MemorySpec::new(kernel("2.6.32"), 32, 1));
    reader.fill(Mark::Min);
    (0..reader.next).for_each(|at| reader.memory.dirtied(page(at)));
    let steps = reader.reclaim();
    assert_eq!(steps[..5], [Pass(12), Pass(11), Pass(10), Pass(9), Pass(8)]);
    assert_eq!(steps[5..8], [WakeFlushers, Nap, Pass(7)], "56 are scanned");
    assert_eq!(steps.last(), Some(&Done(0)), "all of it is dirty, and being written");
    assert_eq!(reader.memory.vmstat().allocstall, 1);
}

#[test]
fn nothing_is_allocated_for_a_page() {
    let spec =
        MemorySpec { page_return: Span::from_ns(200), ..MemorySpec::new(kernel("2.6.36"), 64, 4) };
    let mut reader = Reader::with(spec);
    let read = |reader: &mut Reader, pages: u64| {
        let end = reader.next + pages;
        while reader.next < end {
            if reader.read(128, Mark::Low) < 128 {
                reader.reclaim_chunk();
            }
            reader.now += Span::from_us(200);
        }
    };
    read(&mut reader, 40_000);
    let before = allocations();
    read(&mut reader, 40_000);
    assert_eq!(allocations() - before, 0);
}
