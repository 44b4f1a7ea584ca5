//! For whom BFQ keeps the disk free, and what that does to shares and throughput.

#[path = "support/device.rs"]
mod device;

use device::{Device, Serves};
use fairdisk_core::Span;
use fairdisk_sched::bfq::{Bfq, BfqParams};

const FLASH: Serves = Serves { depth: 32, time: Span::from_us(100), one_by_one: false };
const HEAD: Serves = Serves { depth: 32, time: Span::from_ms(8), one_by_one: true };

fn bfq(low_latency: bool) -> Bfq {
    Bfq::new(&BfqParams { low_latency, ..BfqParams::default() })
}

/// Requests of the group that were done in the last run.
fn of_group(disk: &Device<Bfq>, group: u32) -> u32 {
    disk.done_by(|slot| slot.group.0 == group).0
}

/// Requests per second of eight readers that started one after the other.
fn eight_readers(low_latency: bool) -> (u32, u32) {
    let mut disk = Device::new(bfq(low_latency), FLASH, false);
    for _ in 0..8 {
        disk.add_task(0, 1);
        disk.run(Span::from_ms(150));
    }
    disk.run(Span::from_s(1));
    let raised = of_group(&disk, 0);
    disk.run(Span::from_s(11));
    disk.run(Span::from_s(1));
    (raised, of_group(&disk, 0))
}

#[test]
fn nobody_is_waited_for_once_all_weights_are_what_they_were() {
    let all = eight_readers(false).0;
    let (raised, later) = eight_readers(true);
    println!("{all}, raised {raised}, later {later}");
    assert!(raised < all / 4, "one after the other: {raised} of {all}");
    assert!(later >= all / 10 * 9, "all of them at once: {later} of {all}");
}

/// The share of a reader in percent beside eight in a group of weight 100, and all requests.
fn one_beside_eight(weight: u32, serves: Serves, rotational: bool) -> (u32, u32) {
    let mut disk = Device::new(bfq(false), serves, rotational);
    for (group, weight, readers) in [(1, weight, 1), (2, 100, 8)] {
        disk.add_group(group, weight);
        for _ in 0..readers {
            disk.add_task(group, 1);
        }
    }
    disk.run(Span::from_s(10));
    disk.run(Span::from_s(30));
    let all = of_group(&disk, 1) + of_group(&disk, 2);
    (100 * of_group(&disk, 1) / all, all)
}

#[test]
fn groups_share_by_weight_however_many_tasks_they_have() {
    for (serves, rotational) in [(HEAD, true), (FLASH, false)] {
        for weight in [100, 101] {
            let (percent, all) = one_beside_eight(weight, serves, rotational);
            println!("{weight}: {percent} % of {all}");
            assert!((45..=55).contains(&percent), "{weight}: {percent}");
        }
    }
}

/// Requests per second of two groups with as many readers each.
fn even(readers: u32, serves: Serves) -> u32 {
    let mut disk = Device::new(bfq(false), serves, false);
    for group in [1, 2] {
        disk.add_group(group, 100);
        for _ in 0..readers {
            disk.add_task(group, 1);
        }
    }
    disk.run(Span::from_s(1));
    disk.run(Span::from_s(1));
    of_group(&disk, 1) + of_group(&disk, 2)
}

#[test]
fn equal_groups_with_equal_numbers_of_tasks_are_not_waited_for() {
    for depth in [4, 32] {
        let all = even(4, Serves { depth, ..FLASH });
        println!("depth {depth}: {all}");
        assert!(all > 9_000 * depth.min(8) as u32, "depth {depth}: {all}");
    }
}
