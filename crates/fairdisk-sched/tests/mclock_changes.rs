//! mClock's floors and ceilings when they are set under load, on a disk that serves one request in
//! 8 ms while both groups keep a long queue.

#[path = "support/device.rs"]
mod device;

use device::{Device, Serves};
use fairdisk_core::{Change, GroupId, Qos, Rates, Span};
use fairdisk_sched::mclock::{Mclock, MclockParams};
use std::num::NonZeroU64;

const QUEUED: u32 = 128;
const SERVES: Serves = Serves { depth: 1, time: Span::from_ms(8), one_by_one: true };

/// A light group, 1, and a heavy one, 2, that have shared the disk by weight for 20 s.
fn after_a_while() -> Device<Mclock> {
    let mut disk = Device::new(Mclock::new(MclockParams::default()), SERVES, true);
    for (group, weight) in [(1, 1), (2, 1000)] {
        disk.add_group(group, weight);
        disk.add_task(group, QUEUED);
    }
    disk.run(Span::from_s(20));
    disk
}

fn iops(rate: u64) -> Rates {
    Rates { iops: NonZeroU64::new(rate), ..Rates::NONE }
}

fn ask(disk: &mut Device<Mclock>, group: u32, qos: Qos) {
    disk.tell(&Change::GroupQos { group: GroupId(group), qos });
}

/// Requests of the group that were done in the last run.
fn of_group(disk: &Device<Mclock>, group: u32) -> u32 {
    disk.done_by(|slot| slot.group.0 == group).0
}

/// What both groups get in each of the next three seconds.
fn seconds(disk: &mut Device<Mclock>) -> [(u32, u32); 3] {
    std::array::from_fn(|_| {
        disk.run(Span::from_s(1));
        (of_group(disk, 1), of_group(disk, 2))
    })
}

#[test]
fn time_before_a_floor_earns_nothing() {
    let mut disk = after_a_while();
    ask(&mut disk, 1, Qos { floor: iops(10), ..Qos::NONE });
    for (light, heavy) in seconds(&mut disk) {
        assert!((9..=11).contains(&light) && heavy >= 113, "{light} and {heavy}");
    }
}

/// The floors cannot be kept together, so the tags fall behind. A larger floor does not turn what
/// is owed into more than it was.
#[test]
fn what_a_floor_fell_behind_does_not_count_for_the_next_one() {
    let mut disk = after_a_while();
    ask(&mut disk, 2, Qos { floor: iops(300), ..Qos::NONE });
    ask(&mut disk, 1, Qos { floor: iops(10), ..Qos::NONE });
    disk.run(Span::from_s(20));
    ask(&mut disk, 2, Qos::NONE);
    ask(&mut disk, 1, Qos { floor: iops(20), ..Qos::NONE });
    for (light, heavy) in seconds(&mut disk) {
        assert!((19..=21).contains(&light) && heavy >= 103, "{light} and {heavy}");
    }
}

#[test]
fn a_new_ceiling_does_not_move_the_floor() {
    let mut disk = after_a_while();
    let qos = Qos { floor: iops(10), ..Qos::NONE };
    ask(&mut disk, 1, qos);
    for tenth in 0..10 {
        disk.run(Span::from_ms(97));
        ask(&mut disk, 1, Qos { ceiling: iops(1000 + tenth), ..qos });
        assert!(of_group(&disk, 1) <= 2, "{}", of_group(&disk, 1));
    }
}

#[test]
fn time_before_a_ceiling_makes_no_burst() {
    let mut disk = after_a_while();
    ask(&mut disk, 2, Qos { ceiling: iops(10), ..Qos::NONE });
    for (light, heavy) in seconds(&mut disk) {
        assert!((9..=11).contains(&heavy) && light >= 113, "{light} and {heavy}");
    }
}

/// The rates of requests of 4 and of 128 KiB, one after the other, in I/Os and KiB a second.
fn mixed(disk: &mut Device<Mclock>, group: u32) -> (u32, u64) {
    let slots = disk.slots.iter_mut().filter(|slot| slot.group.0 == group);
    slots.for_each(|slot| slot.lengths = [8, 256]);
    disk.run(Span::from_s(10));
    disk.run(Span::from_s(60));
    let (ios, bytes) = disk.done_by(|slot| slot.group.0 == group);
    (ios / 60, bytes / 60 / 1024)
}

/// On average, a request is 66 KiB long: 60 I/Os a second are 3960 KiB.
fn both() -> Rates {
    Rates { bytes_per_s: NonZeroU64::new(3840 << 10), ..iops(60) }
}

#[test]
fn requests_of_both_sizes_reach_a_ceiling_in_both_keys() {
    let mut disk = after_a_while();
    ask(&mut disk, 2, Qos { ceiling: both(), ..Qos::NONE });
    let (ios, kib) = mixed(&mut disk, 2);
    assert!((56..=60).contains(&ios) && (3700..=3840).contains(&kib), "{ios} and {kib} KiB");
}

#[test]
fn requests_of_both_sizes_get_a_floor_in_both_keys() {
    let mut disk = after_a_while();
    ask(&mut disk, 1, Qos { floor: both(), ..Qos::NONE });
    let (ios, kib) = mixed(&mut disk, 1);
    assert!((60..=62).contains(&ios) && (3840..=4100).contains(&kib), "{ios} and {kib} KiB");
}
