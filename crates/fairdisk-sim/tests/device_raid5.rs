//! The array with parity, compared with a single disk.

mod support;

use fairdisk_core::prng::Prng;
use fairdisk_core::request::Op;
use fairdisk_sim::device::{Device, DeviceModel};
use support::{Host, hdd, io, raid5, wd2500js};

/// Random requests of 4 KiB per second, with `together` outstanding.
fn per_second(mut device: DeviceModel, op: Op, together: u32) -> u64 {
    let (mut prng, mut done) = (Prng::new(1), Vec::new());
    let mut now = fairdisk_core::time::Instant::ZERO;
    let blocks = device.capacity_sectors() / 8;
    for id in 0..together {
        device.submit(now, &io(id, op, prng.below(blocks) * 8, 8));
    }
    let mut count = 0;
    while count < 4_000 {
        now = device.next_event().expect("requests are outstanding");
        device.advance(now, &mut done);
        for done in done.drain(..) {
            count += 1;
            device.submit(now, &io(done.id.0, op, prng.below(blocks) * 8, 8));
        }
    }
    count * 1_000_000_000 / now.as_ns()
}

fn assert_about(what: &str, got: u64, expected: u64, percent: u64) {
    assert!(got.abs_diff(expected) * 100 <= expected * percent, "{what}: {got}, not {expected}");
}

#[test]
fn random_reads_use_all_arms_and_small_writes_cost_four() {
    let single = per_second(hdd(wd2500js()), Op::Read, 1);
    assert_about("one read", per_second(raid5(wd2500js()), Op::Read, 1), single, 3);
    // With 32 reads outstanding, an arm without work is rare.
    assert_about("32 reads", per_second(raid5(wd2500js()), Op::Read, 32), 4 * single, 5);
    // Two reads and two writes for each; the writes follow the reads of the same place a rotation
    // later.
    let writes = per_second(raid5(wd2500js()), Op::Write, 32);
    assert!((single * 9 / 10..single * 3 / 2).contains(&writes), "{writes} against {single}");
}

#[test]
fn a_whole_stripe_is_written_without_reading() {
    let (mut host, mut single) = (Host::new(raid5(wd2500js())), Host::new(hdd(wd2500js())));
    let stripe = host.time(Op::Write, 0, 3 * 128);
    let chunk = single.time(Op::Write, 0, 128);
    // The other three disks are at different angles than the first: up to one rotation more.
    assert!((chunk..chunk + 8_400_000).contains(&stripe), "{stripe} against {chunk}");
}

#[test]
fn a_flush_reaches_every_disk() {
    let mut host = Host::new(raid5(support::cached(4, fairdisk_sim::device::Order::Satf)));
    host.time(Op::Write, 0, 8);
    assert!(host.time(Op::Flush, 0, 0) > 1_000_000, "data and parity go to the medium");
    assert!(host.time(Op::Flush, 0, 0) < 1_000_000, "nothing is left");
}
