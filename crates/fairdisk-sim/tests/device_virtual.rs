//! The disk of a virtual machine: what its cache keeps from the disk below, and when the host
//! writes back.

mod support;

use fairdisk_core::request::Op;
use fairdisk_sim::device::{FlushPolicy, HostCacheParams, VirtualDiskParams};
use support::{HOST_CACHE, Host, guest, virtual_disk};

/// CPU time of a request of one page: 100 us, and 14 for the page.
const CPU_NS: u64 = 114_000;
/// Less than any access to the disk below takes, and more than a request that does not get there.
const ACCESS_NS: u64 = 300_000;

fn cached(cache: HostCacheParams) -> Host {
    Host::new(guest(virtual_disk(1, Some(cache))))
}

/// A page far from the others.
fn page(number: u64) -> u64 {
    number * 80_000
}

#[test]
fn a_page_is_read_from_the_disk_once() {
    let mut host = cached(HOST_CACHE);
    assert!(host.time(Op::Read, page(3), 8) > ACCESS_NS);
    assert_eq!(host.time(Op::Read, page(3), 8), CPU_NS);
    assert!(host.time(Op::Read, page(3), 16) > ACCESS_NS, "the second page is not there");
}

#[test]
fn the_page_that_was_not_used_for_longest_leaves() {
    let mut host = cached(HOST_CACHE);
    (0..512).for_each(|number| assert!(host.time(Op::Read, page(number), 8) > ACCESS_NS));
    assert_eq!(host.time(Op::Read, page(0), 8), CPU_NS);
    assert!(host.time(Op::Read, page(600), 8) > ACCESS_NS, "takes the place of page 1");
    assert_eq!(host.time(Op::Read, page(0), 8), CPU_NS);
    assert!(host.time(Op::Read, page(1), 8) > ACCESS_NS);
}

#[test]
fn writes_end_in_the_cache_until_too_much_is_dirty() {
    let mut host = cached(HOST_CACHE);
    let times: Vec<u64> = (0..400).map(|number| host.time(Op::Write, page(number), 8)).collect();
    // A half of 512 pages, and those that the host wrote back meanwhile.
    let fast = times.iter().position(|time| *time > CPU_NS).expect("the limit is reached");
    assert!((256..300).contains(&fast), "{fast}");
    let slow = &times[fast..];
    assert!(slow.iter().sum::<u64>() / slow.len() as u64 > ACCESS_NS, "at the pace of the disk");
}

#[test]
fn little_dirty_data_is_written_back_when_it_is_old() {
    let mut host = cached(HOST_CACHE);
    host.time(Op::Write, page(1), 8);
    let due = host.device_event().expect("it will be written");
    assert_eq!(due, CPU_NS + 1_000_000_000);
    host.sleep(2_000_000_000);
    assert_eq!(host.device_event(), None, "and is on the disk");
    assert_eq!(host.time(Op::Read, page(1), 8), CPU_NS, "and still in the cache");
}

#[test]
fn a_flush_waits_for_what_is_dirty_unless_the_host_ignores_it() {
    for (flush, waits) in [(FlushPolicy::Drain, true), (FlushPolicy::Ignore, false)] {
        let mut host = cached(HostCacheParams { flush, ..HOST_CACHE });
        host.time(Op::Write, page(1), 8);
        host.time(Op::Write, page(900), 8);
        let took = host.time(Op::Flush, 0, 0);
        assert_eq!(took > ACCESS_NS, waits, "{flush:?}: {took}");
    }
}

#[test]
fn pages_that_follow_each_other_are_written_back_together() {
    let mut host = cached(HostCacheParams { background_percent: 0, ..HOST_CACHE });
    (0..64).for_each(|page| {
        host.time(Op::Write, page * 8, 8);
    });
    let together = host.time(Op::Flush, 0, 0);
    (0..64).for_each(|number| {
        host.time(Op::Write, page(number), 8);
    });
    assert!(host.time(Op::Flush, 0, 0) > 3 * together, "more than {together}");
}

#[test]
fn requests_wait_for_each_other_where_cpus_run_out() {
    for (cpus, last) in [(1, 4 * CPU_NS), (2, 2 * CPU_NS), (4, CPU_NS)] {
        let params = VirtualDiskParams { cpus, ..virtual_disk(4, Some(HOST_CACHE)) };
        let mut host = Host::new(guest(params));
        (0..4).for_each(|number| {
            host.submit(Op::Write, page(number), 8);
        });
        let mut done = 0;
        while done < 4 {
            done += host.wait().len();
        }
        assert_eq!(host.now.as_ns(), last, "{cpus} CPUs");
    }
}

#[test]
fn without_a_cache_every_request_reaches_the_disk() {
    let mut host = Host::new(guest(virtual_disk(1, None)));
    assert!(host.time(Op::Write, page(1), 8) > ACCESS_NS);
    assert!(host.time(Op::Write, page(1), 8) > ACCESS_NS);
}
