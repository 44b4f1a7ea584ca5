//! The solid-state disk, checked by numbers that can be computed by hand.

mod support;

use fairdisk_core::prng::Prng;
use fairdisk_core::request::Op;
use fairdisk_core::time::Instant;
use fairdisk_sim::device::{Device, DeviceIo, SsdParams};
use support::{COLLECTION, Host, io, small_ssd, ssd};

const US: u64 = 1_000;
/// 4 KiB at 300 MB/s, in ns.
const BUS_4K: u64 = 13_653;
/// The first sector of the page in unit `unit` and row `row`: pages of 16 KiB, eight units.
const fn page(unit: u64, row: u64) -> u64 {
    (row * 8 + unit) * 32
}

/// Submits reads of 4 KiB at `starts` at once, and returns when each completed.
fn together(params: SsdParams, starts: &[u64]) -> Vec<u64> {
    let (mut device, mut done, mut times) = (ssd(params), Vec::new(), vec![0; starts.len()]);
    for (id, start) in (0..).zip(starts) {
        device.submit(Instant::ZERO, &io(id, Op::Read, *start, 8));
    }
    while let Some(at) = device.next_event() {
        device.advance(at, &mut done);
        done.drain(..).for_each(|done| times[done.id.0 as usize] = at.as_ns());
    }
    times
}

#[test]
fn a_read_is_command_flash_and_bus() {
    let mut host = Host::new(ssd(small_ssd()));
    assert_eq!(host.time(Op::Read, 0, 8), (10 + 50) * US + BUS_4K);
    // Two pages are on two units; nine are on eight units, one of which reads twice.
    assert_eq!(host.time(Op::Read, 0, 64), 60 * US + 8 * BUS_4K + 2);
    assert_eq!(host.time(Op::Read, 0, 9 * 32), 110 * US + 36 * BUS_4K + 11);
}

#[test]
fn units_work_side_by_side_and_one_after_the_other() {
    let single = 60 * US + BUS_4K;
    // The controller takes one command per microsecond, and the bus carries one answer at a time.
    assert_eq!(together(small_ssd(), &[page(0, 0), page(1, 0)]), [single, single + BUS_4K]);
    assert_eq!(together(small_ssd(), &[page(0, 0), page(0, 1)]), [single, single + 50 * US]);
}

#[test]
fn a_write_is_done_in_the_buffer_until_that_is_full() {
    let mut host = Host::new(ssd(small_ssd()));
    assert_eq!(host.time(Op::Write, 0, 8), 10 * US + BUS_4K);
    // 300 MB/s arrive; eight units program 16 KiB each per 500 us, 262 MB/s.
    let begin = host.now;
    let times: Vec<u64> = (1..400).map(|at| host.time(Op::Write, at * 256, 256)).collect();
    let rate = 399 * 256 * 512 * 1_000 / (host.now.since(begin).as_ns() / US / 1_000);
    assert_eq!(times[0], times[1], "there is room");
    assert!((255_000_000..=275_000_000).contains(&rate), "{rate}");
}

#[test]
fn a_flush_waits_for_the_flash_and_a_second_one_does_not() {
    let mut host = Host::new(ssd(small_ssd()));
    host.time(Op::Write, 0, 8);
    assert_eq!(host.time(Op::Flush, 0, 0), (10 + 500) * US);
    assert_eq!(host.time(Op::Flush, 0, 0), 10 * US);
    let mut host = Host::new(ssd(SsdParams { flush_drains: false, ..small_ssd() }));
    host.time(Op::Write, 0, 8);
    assert_eq!(host.time(Op::Flush, 0, 0), 10 * US);
}

#[test]
fn data_is_programmed_once_it_fills_a_page_or_has_to_be() {
    let mut host = Host::new(ssd(small_ssd()));
    let small = |host: &mut Host, write: u64| host.time(Op::Write, write * 8, 8);
    // Nothing is programmed before the page is full, so no read waits.
    for write in 0..3 {
        small(&mut host, write);
        for unit in 0..8 {
            assert_eq!(host.time(Op::Read, page(unit, 0), 8), 60 * US + BUS_4K);
        }
    }
    let full = small(&mut host, 3);
    assert_eq!(full, 10 * US + BUS_4K);
    let reads = (0..8).map(|unit| host.time(Op::Read, page(unit, 0), 8));
    assert_eq!(reads.filter(|read| *read > 60 * US + BUS_4K).count(), 1);
    // A write that has to be in flash before it is done does not wait for more.
    let through = |params| {
        let mut device = ssd(params);
        device.submit(Instant::ZERO, &DeviceIo { fua: true, ..io(0, Op::Write, 0, 8) });
        let mut done = Vec::new();
        core::iter::from_fn(|| device.next_event().inspect(|at| device.advance(*at, &mut done)))
            .last()
            .map(|at| at.as_ns())
    };
    assert_eq!(through(small_ssd()), Some(510 * US + BUS_4K));
    let has_capacitors = SsdParams { flush_drains: false, ..small_ssd() };
    assert_eq!(through(has_capacitors), Some(10 * US + BUS_4K));
    // A buffer of one page that holds a part of one makes room for what does not fit beside it.
    let mut host = Host::new(ssd(SsdParams { write_buffer_kib: 16, ..small_ssd() }));
    small(&mut host, 0);
    assert_eq!(host.time(Op::Write, 0, 32), 510 * US + 4 * BUS_4K + 1);
}

#[test]
fn a_read_behind_a_program_waits_for_its_end() {
    let mut host = Host::new(ssd(small_ssd()));
    // Eight pages: every unit is programming.
    let write = host.time(Op::Write, 0, 256);
    let read = host.time(Op::Read, page(3, 9), 8);
    assert_eq!(write, 10 * US + 32 * BUS_4K + 10);
    assert_eq!(read, 500 * US + 50 * US + BUS_4K);
}

#[test]
fn without_fresh_cells_some_reads_wait_for_a_collection() {
    let slowest = |params: SsdParams| {
        let (mut host, mut prng) = (Host::new(ssd(params)), Prng::new(1));
        let step = |_| {
            let place = prng.below(1 << 16) * 8;
            host.time(Op::Write, place, 32).max(host.time(Op::Read, place, 8))
        };
        (0..4_000).map(step).max().unwrap_or_default()
    };
    let fresh = slowest(small_ssd());
    let collecting = slowest(SsdParams { collection: Some(COLLECTION), ..small_ssd() });
    assert!(fresh < 700 * US, "{fresh}");
    assert!((5_000 * US..5_700 * US).contains(&collecting), "{collecting}");
}
