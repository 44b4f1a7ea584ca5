//! Work of devices: what all groups had adds up to the time in which the device was fully loaded.

mod support;

use fairdisk_core::request::{Lba, Op, RequestId, Sectors};
use fairdisk_core::time::{Instant, Span};
use fairdisk_core::{GroupId, Prng};
use fairdisk_sim::device::{Device, DeviceIo, DeviceModel, Done};
use support::all_kinds;

const ONE: GroupId = GroupId(1);
const OTHER: GroupId = GroupId(2);

/// Keeps `depth` requests at the device for `length`; `io` gives request number k.
fn keep_busy(
    device: &mut DeviceModel,
    depth: u32,
    length: Span,
    mut io: impl FnMut(u64) -> (GroupId, Op, u64, u32),
) -> Instant {
    let mut submit = |device: &mut DeviceModel, now: Instant, id: RequestId, number: u64| {
        let (group, op, start, sectors) = io(number);
        let (start, sectors) = (Lba(start), Sectors(sectors));
        device.submit(now, &DeviceIo { id, group, op, start, sectors, fua: false });
    };
    for slot in 0..depth {
        submit(device, Instant::ZERO, RequestId(slot), slot.into());
    }
    let (mut done, mut number) = (Vec::<Done>::new(), u64::from(depth));
    loop {
        let now = device.next_event().expect("the device has requests");
        if now > Instant::ZERO + length {
            return now;
        }
        device.advance(now, &mut done);
        for one in done.drain(..) {
            submit(device, now, one.id, number);
            number += 1;
        }
    }
}

/// What both groups had, as fractions of the time until `end`.
fn parts(device: &DeviceModel, end: Instant) -> [f64; 2] {
    let whole = (end - Instant::ZERO).as_ns() as f64;
    [ONE, OTHER].map(|group| device.work(group).as_ns() as f64 / whole)
}

#[test]
fn of_a_saturated_second_all_of_it_is_somebodys_work() {
    for (name, mut device) in all_kinds().into_iter().filter(|(name, _)| *name != "null") {
        let (capacity, depth) = (device.capacity_sectors(), device.depth().min(256));
        let mut prng = Prng::new(7);
        let random = |number: u64| {
            let group = if number.is_multiple_of(3) { ONE } else { OTHER };
            (group, Op::Read, prng.below(capacity / 8 - 1) * 8, 8)
        };
        let end = keep_busy(&mut device, depth, Span::from_s(2), random);
        let [one, other] = parts(&device, end);
        assert!((0.80..=1.001).contains(&(one + other)), "{name}: {one} + {other}");
        assert!((one / (one + other) - 1.0 / 3.0).abs() < 0.03, "{name}: {one} and {other}");
    }
}

#[test]
fn one_request_at_a_time_is_worth_the_time_it_took() {
    let serial = ["fixed, serial", "hdd", "hdd, skewed", "hdd, no read-ahead"];
    for (name, mut device) in all_kinds().into_iter().filter(|(name, _)| serial.contains(name)) {
        let mut prng = Prng::new(8);
        let mut last = [Span::ZERO; 2];
        let (mut now, mut done) = (Instant::ZERO, Vec::new());
        for number in 0..200u32 {
            let group = if number % 2 == 0 { ONE } else { OTHER };
            let op = if prng.below(2) == 0 { Op::Read } else { Op::Write };
            let start = Lba(prng.below(1_000_000) * 8);
            let id = RequestId(number);
            let io = DeviceIo { id, group, op, start, sectors: Sectors(8), fua: false };
            device.submit(now, &io);
            let before = now;
            now = device.next_event().unwrap();
            device.advance(now, &mut done);
            last[number as usize % 2] += now - before;
            now += Span::from_us(prng.below(3_000));
        }
        assert_eq!(last, [ONE, OTHER].map(|group| device.work(group)), "{name}");
    }
}

#[test]
fn emptying_a_cache_is_work_for_whoever_filled_it() {
    let cached = ["hdd, write cache", "hdd, write cache fifo"];
    for (name, mut device) in all_kinds().into_iter().filter(|(name, _)| cached.contains(name)) {
        let mut prng = Prng::new(9);
        let mut number = 0u64;
        // A writer and a reader in turn: writes complete at once, and reads wait until they are
        // destaged.
        let capacity = device.capacity_sectors();
        let mix = |_| {
            number += 1;
            let (group, op) =
                if number.is_multiple_of(2) { (ONE, Op::Write) } else { (OTHER, Op::Read) };
            (group, op, prng.below(capacity / 8 - 1) * 8, 8)
        };
        let end = keep_busy(&mut device, 1, Span::from_s(4), mix);
        let [writer, reader] = parts(&device, end);
        assert!(writer > 0.3 && reader > 0.3, "{name}: {writer} and {reader}");
    }
}

/// Two groups write neighbouring blocks: the disk joins the writes as if they were of one group.
#[test]
fn whose_writes_are_in_a_cache_does_not_change_what_the_disk_does() {
    let run = |name: &str, others_from: u64| {
        let (_, mut device) = all_kinds().into_iter().find(|(kind, _)| *kind == name).unwrap();
        let (mut prng, mut start, mut writes) = (Prng::new(10), 0, 0);
        let stretches = |number: u64| {
            start = if number.is_multiple_of(8) { prng.below(10_000) * 800 } else { start + 8 };
            writes += 1;
            let group = if number % 8 < others_from { ONE } else { OTHER };
            (group, Op::Write, start, 8)
        };
        let end = keep_busy(&mut device, 1, Span::from_s(4), stretches);
        ((end, writes), parts(&device, end))
    };
    for name in ["hdd, write cache", "hdd, write cache fifo"] {
        let (alone, together) = (run(name, 8), run(name, 4));
        assert_eq!(alone.0, together.0, "{name}");
        let [one, other] = together.1;
        assert!((one + other - alone.1[0]).abs() < 1e-9, "{name}: {one} + {other}, {alone:?}");
    }
}
