//! Each switch of the kernels changes something, and what.

use crate::support::{Reader, cold, kernel, page};
use fairdisk_core::{Instant, Span};
use fairdisk_sim::host::Presence;
use fairdisk_sim::host::memory::{
    Direct, KERNEL_SWITCHES, Kernel, Kswapd, Mark, MemorySpec, PageType, RELEASES, Reclaimer,
    Taker, Want,
};

/// A kernel of the release before the one in which the switch came, with the switch on or off.
fn with(name: &str, release: Option<&str>, on: bool) -> Kernel {
    let at = RELEASES.iter().position(|known| Some(*known) == release);
    let mut kernel = kernel(at.map_or("2.6.32", |at| RELEASES[at - 1]));
    assert!(kernel.set(name, on), "{name}");
    kernel
}

#[test]
fn each_switch_changes_something() {
    for switch in KERNEL_SWITCHES {
        let outcome = |on| scenario(switch.name, with(switch.name, switch.release, on));
        assert_ne!(outcome(false), outcome(true), "{}", switch.name);
    }
}

/// What came of a load in which the switch matters.
fn scenario(switch: &str, kernel: Kernel) -> String {
    match switch {
        "one_cpu_list" => hot_then_cold(kernel),
        "cold_ascending" => frames_of_a_window(kernel),
        "evict_once" | "evict_once_share" => a_pass_with_few_active_pages(kernel),
        "nap_ends_sync" | "nap_ends_async" => format!("{:?}", kernel.nap_ends()),
        "list_per_type" => two_types(kernel),
        "too_many_isolated" => reclaim_beside_many(kernel),
        "kswapd_awake_below_min"
        | "kswapd_sleeps_twice"
        | "kswapd_checks_after"
        | "kswapd_never_naps" => kswapd_with_a_short_list(kernel),
        "mapped_once" => a_page_used_through_a_mapping(kernel),
        "buddies_kept" => frames_after_a_drop(kernel),
        "exact_count" => free_pages_while_kswapd_is_awake(kernel),
        "count_after_lists" => free_pages_while_a_batch_is_returned(kernel),
        "drain_and_retry" | "wait_iff_congested" | "watermark_wait" => {
            let memory = Reader::new(kernel).memory;
            format!("{:?}", [false, true].map(|drained| memory.without_page(drained, true)))
        }
        "refault_activates" => pages_that_come_back(kernel),
        "refault_ages_active" => pages_that_come_back(Kernel { refault_activates: true, ..kernel }),
        "direct_writes_none" => dirty_pages_after_a_direct_reclaim(kernel),
        "throttles" => reclaim_of_dirty_pages(kernel),
        unknown => panic!("nothing shows what {unknown} changes"),
    }
}

fn frames(reader: &Reader, pages: std::ops::Range<u64>) -> Vec<Option<u32>> {
    pages.map(|at| reader.memory.frame(page(at))).collect()
}

fn hot_then_cold(kernel: Kernel) -> String {
    let mut reader = Reader::new(kernel);
    let hot = Want { cold: false, ..cold(1) };
    reader.memory.take(reader.now, &mut Taker::new(0), hot, Mark::Low);
    reader.read(3, Mark::Low);
    format!("{:?}", frames(&reader, 0..3))
}

fn frames_of_a_window(kernel: Kernel) -> String {
    let mut reader = Reader::new(kernel);
    reader.read(32, Mark::Low);
    format!("{:?}", frames(&reader, 0..32))
}

fn a_pass_with_few_active_pages(kernel: Kernel) -> String {
    let mut reader = Reader::new(kernel);
    reader.read(140, Mark::Low);
    for at in 0..50 {
        (0..2).for_each(|_| {
            reader.memory.used(page(at));
        });
    }
    reader.pass(Reclaimer::Direct, 0);
    format!("{:?}", reader.memory.vmstat())
}

fn two_types(kernel: Kernel) -> String {
    let mut reader = Reader::new(kernel);
    reader.read(1, Mark::Low);
    let fixed = Want { page_type: PageType::Unmovable, ..cold(1) };
    reader.memory.take(reader.now, &mut Taker::new(0), fixed, Mark::Low);
    reader.read(14, Mark::Low);
    format!("{:?}", frames(&reader, 0..15))
}

fn reclaim_beside_many(kernel: Kernel) -> String {
    let mut reader = Reader::new(kernel);
    reader.read(98, Mark::Low);
    let mut passes = [(); 2].map(|()| reader.memory.pass(Reclaimer::Direct, 0));
    for pass in &mut passes {
        reader.memory.isolate(0, pass);
    }
    format!("{:?}", Direct::new(&mut reader.memory).next(&reader.memory))
}

/// kswapd needs a priority below 10, and one pass is enough; at first free memory is below min.
fn kswapd_with_a_short_list(kernel: Kernel) -> String {
    let mut reader = Reader::with(MemorySpec::new(kernel, 32, 1));
    reader.fill(Mark::Min);
    reader.read(100, Mark::None);
    let mut kswapd = Kswapd::default();
    assert!(kswapd.wake(&mut reader.memory, reader.now));
    format!("{:?}", reader.run_kswapd(&mut kswapd, 1000))
}

fn a_page_used_through_a_mapping(kernel: Kernel) -> String {
    let mut reader = Reader::new(kernel);
    reader.read(42, Mark::Low);
    reader.memory.used_through_mapping(page(0));
    reader.pass(Reclaimer::Kswapd, 0);
    assert_eq!(reader.memory.presence(page(0)), Presence::Present);
    format!("{:?}", reader.memory.places())
}

/// Forty pages used twice are fewer than those behind them, and two that were evicted come back.
fn pages_that_come_back(kernel: Kernel) -> String {
    let mut reader = Reader::new(kernel);
    reader.read(140, Mark::Low);
    reader.use_twice(0..40);
    assert_eq!(reader.reclaim_chunk(), 32);
    reader.read_again(70..72);
    reader.pass(Reclaimer::Direct, 0);
    format!("{:?}", reader.memory.places())
}

/// Memory of 32 MiB full of dirty pages, which are not written.
fn dirty_pages(kernel: Kernel) -> Reader {
    let mut reader = Reader::with(MemorySpec::new(kernel, 32, 1));
    reader.fill(Mark::Min);
    (0..reader.next).for_each(|at| reader.memory.dirtied(page(at)));
    reader
}

fn dirty_pages_after_a_direct_reclaim(kernel: Kernel) -> String {
    let mut reader = dirty_pages(kernel);
    let mut direct = Direct::new(&mut reader.memory);
    let may_write = reader.reclaim_with(&mut direct).last().map(|_| direct.may_write());
    format!("{may_write:?}")
}

fn reclaim_of_dirty_pages(kernel: Kernel) -> String {
    let mut reader = dirty_pages(kernel);
    let mut direct = Direct::new(&mut reader.memory);
    format!("{:?}", reader.reclaim_with(&mut direct))
}

fn frames_after_a_drop(kernel: Kernel) -> String {
    let mut reader = Reader::new(kernel);
    reader.read(900, Mark::Low);
    for at in (0..900).filter(|at| at % 13 < 5) {
        reader.memory.drop_page(reader.now, 0, page(at));
    }
    reader.memory.drain(reader.now);
    let first = reader.next;
    reader.read(300, Mark::Low);
    format!("{:?}", frames(&reader, first..first + 300))
}

/// CPUs have taken batches of 3 and keep the difference to themselves.
fn free_pages_while_kswapd_is_awake(kernel: Kernel) -> String {
    let spec = MemorySpec::new(kernel, 64, 4);
    let mut reader = Reader::with(spec);
    reader.fill(Mark::Low);
    for cpu in 1..4 {
        reader.memory.take(reader.now, &mut Taker::new(cpu), cold(1), Mark::None);
    }
    assert!(Kswapd::default().wake(&mut reader.memory, reader.now));
    let seen = reader.memory.free_seen(reader.now);
    format!("{}", seen - reader.memory.places().free as i64)
}

fn free_pages_while_a_batch_is_returned(kernel: Kernel) -> String {
    let spec = MemorySpec { page_return: Span::from_ns(200), ..MemorySpec::new(kernel, 256, 1) };
    let mut reader = Reader::with(spec);
    reader.fill_to_an_empty_list();
    (0..3).for_each(|_| assert_eq!(reader.reclaim_chunk(), 32));
    let mut seen = |us| reader.memory.free_seen(Instant::ZERO + Span::from_us(us));
    let (at_once, later) = (seen(2), seen(3));
    assert_eq!(later, reader.memory.places().free as i64, "3 us for 15 pages");
    format!("{at_once}")
}
