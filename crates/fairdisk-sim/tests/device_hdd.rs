//! The rotating disk, checked by numbers that can be computed by hand.

mod support;

use fairdisk_core::prng::Prng;
use fairdisk_core::request::{Op, RequestId};
use fairdisk_sim::device::{
    Device, DeviceIo, DeviceSpec, Done, FlushPolicy, HddParams, HddSpec, Order, QueueParams,
    ReadAheadParams, WriteCacheParams,
};
use support::{Host, cached, hdd, io, queued, skewed, wd2500js};

const MS: u64 = 1_000_000;
/// 250 MB in 4 KiB blocks.
const FILE_BLOCKS: u64 = 61_035;
/// The start of the partitions of the published runs: 60 GB into the disk.
const FILE_START: u64 = 60_000_000_000 / 512;

/// The mean time of random 4 KiB requests among `blocks`, with think times of the host in between.
fn mean_random_ns(params: HddParams, op: Op, start: u64, blocks: u64) -> u64 {
    let (mut host, mut prng) = (Host::new(hdd(params)), Prng::new(3));
    let count = 20_000;
    let total: u64 = (0..count)
        .map(|_| {
            host.sleep(prng.between(100_000, 500_000));
            host.time(op, start + prng.below(blocks) * 8, 8)
        })
        .sum();
    total / count
}

/// The rate of a stream of reads or writes in bytes per second.
fn stream_rate(host: &mut Host, op: Op, start: u64, sectors: u32, count: u64) -> u64 {
    host.time(op, start, sectors);
    let begin = host.now;
    for i in 1..=count {
        host.time(op, start + i * u64::from(sectors), sectors);
    }
    count * u64::from(sectors) * 512 * 1_000_000_000 / host.now.since(begin).as_ns()
}

fn assert_close(what: &str, got: u64, expected: u64, percent: u64) {
    assert!(got.abs_diff(expected) * 100 <= expected * percent, "{what}: {got}, not {expected}");
}

#[test]
fn a_random_read_in_a_file_takes_six_milliseconds() {
    let ns = mean_random_ns(wd2500js(), Op::Read, FILE_START, FILE_BLOCKS);
    // Command 0.33, short seek 1.4, half a rotation 4.17, transfer 0.07, bus 0.03 ms.
    assert_close("mean", ns, 6 * MS, 2);
}

#[test]
fn a_write_without_cache_costs_what_a_read_costs() {
    let read = mean_random_ns(wd2500js(), Op::Read, FILE_START, FILE_BLOCKS);
    let write = mean_random_ns(wd2500js(), Op::Write, FILE_START, FILE_BLOCKS);
    assert_close("mean", write, read, 1);
    let settles = HddParams { write_settle_us: 500, ..wd2500js() };
    let settled = mean_random_ns(settles, Op::Write, FILE_START, FILE_BLOCKS);
    assert_close("mean with settling", settled, write + 500_000, 1);
}

#[test]
fn a_random_read_on_the_whole_disk_takes_an_average_seek_and_half_a_rotation() {
    let blocks = wd2500js().capacity_sectors / 8;
    let ns = mean_random_ns(wd2500js(), Op::Read, 0, blocks);
    assert_close("mean", ns, 330_000 + 8_900_000 + 4_166_667 + 80_000 + 30_000, 2);
}

#[test]
fn streams_run_at_the_rate_of_their_zone() {
    let last = wd2500js().capacity_sectors - 200_000;
    for (params, switch_ns) in [(wd2500js(), 0), (skewed(), (5 * 900_000 + 1_100_000) / 6)] {
        for (zone, start, per_track) in [("outer", 0, 1_020), ("inner", last, 600)] {
            let rate = stream_rate(&mut Host::new(hdd(params.clone())), Op::Read, start, 256, 500);
            let expected = per_track * 512 * 1_000_000_000 / (8_333_333 + switch_ns);
            assert_close(zone, rate, expected, 2);
        }
    }
}

#[test]
fn without_reading_ahead_every_read_of_a_stream_loses_a_rotation() {
    let params = HddParams { read_ahead: None, ..wd2500js() };
    let rate = stream_rate(&mut Host::new(hdd(params)), Op::Read, 0, 256, 200);
    // A quarter of a track per read, and the next one starts at most a whole rotation later.
    assert!(rate < 20_000_000, "{rate}");
}

#[test]
fn a_slow_reader_is_served_from_the_buffer_at_bus_rate() {
    let mut host = Host::new(hdd(wd2500js()));
    host.time(Op::Read, 0, 256);
    host.sleep(5 * MS);
    // Command and bus overhead, and 128 KiB at 300 MB/s.
    assert_eq!(host.time(Op::Read, 256, 256), 330_000 + 30_000 + 256 * 512 * 10 / 3);
}

#[test]
fn reading_ahead_ends_with_the_segment() {
    let one = ReadAheadParams { segments: 1, segment_kib: 64 };
    let mut host = Host::new(hdd(HddParams { read_ahead: Some(one), ..wd2500js() }));
    host.time(Op::Read, 0, 8);
    host.sleep(50 * MS);
    assert!(host.time(Op::Read, 120, 8) < MS, "64 KiB were read ahead");
    assert!(host.time(Op::Read, 600, 8) > MS, "and no more");
}

#[test]
fn a_segment_is_kept_for_each_of_the_last_streams() {
    let mut host = Host::new(hdd(wd2500js()));
    let stream = |i: u64| i * 50_000_000;
    for i in 0..9 {
        host.time(Op::Read, stream(i), 128);
        host.sleep(3 * MS);
    }
    for i in 1..9 {
        assert!(host.time(Op::Read, stream(i) + 128, 128) < MS, "stream {i} was read ahead");
    }
    assert!(host.time(Op::Read, stream(0) + 128, 128) > MS, "there are eight segments");
}

#[test]
fn a_write_makes_the_buffer_forget() {
    let mut host = Host::new(hdd(wd2500js()));
    host.time(Op::Read, 0, 8);
    host.sleep(5 * MS);
    host.time(Op::Write, 64, 8);
    assert!(host.time(Op::Read, 64, 8) > 2 * MS, "comes from the medium");
}

/// The position of a random block of one file.
fn place(i: u64) -> u64 {
    FILE_START + Prng::new(i).below(FILE_BLOCKS) * 8
}

#[test]
fn a_write_cache_takes_its_depth_at_once_and_then_goes_at_the_rate_of_the_medium() {
    let mut host = Host::new(hdd(cached(4, Order::Fifo)));
    for i in 0..4 {
        assert!(host.time(Op::Write, place(i), 8) < MS, "write {i} finds a place");
    }
    let begin = host.now;
    let count = 5_000;
    for i in 4..4 + count {
        host.time(Op::Write, place(i), 8);
    }
    let mean = host.now.since(begin).as_ns() / count;
    // First come, first served: a seek of 1.3 ms, half a rotation and a transfer. No overheads,
    // because commands and bus transfers overlap with the arm's work.
    assert_close("throttled", mean, 5_550_000, 2);
}

#[test]
fn a_deeper_cache_that_reorders_is_faster() {
    let rate =
        |depth, order| mean_random_ns(cached(depth, order), Op::Write, FILE_START, FILE_BLOCKS);
    let fifo = rate(4, Order::Fifo);
    let four = rate(4, Order::Satf);
    let many = rate(64, Order::Satf);
    assert!(four * 10 < fifo * 8, "{four} against {fifo}");
    assert!(many * 10 < four * 6, "{many} against {four}");
}

#[test]
fn a_read_waits_until_what_was_written_before_is_on_the_medium() {
    let read_after_writes = |waits| {
        let mut params = cached(4, Order::Satf);
        params.write_cache = params
            .write_cache
            .map(|cache| WriteCacheParams { reads_wait_for_dirty: waits, ..cache });
        let mut host = Host::new(hdd(params));
        (0..4).for_each(|i| {
            host.time(Op::Write, place(i), 8);
        });
        host.time(Op::Read, place(100), 8)
    };
    let (waiting, passing) = (read_after_writes(true), read_after_writes(false));
    assert!(waiting > passing + 5 * MS, "{waiting} against {passing}");
}

#[test]
fn a_dirty_sector_is_read_from_the_cache() {
    let mut host = Host::new(hdd(cached(4, Order::Satf)));
    (0..4).for_each(|i| {
        host.time(Op::Write, place(i), 8);
    });
    assert!(host.time(Op::Read, place(3) + 2, 4) < MS, "all of it is there");
    assert!(host.time(Op::Read, place(3) + 4, 8) > MS, "half of it is not");
}

#[test]
fn writing_a_dirty_sector_again_takes_no_second_place() {
    let mut host = Host::new(hdd(cached(2, Order::Fifo)));
    host.time(Op::Write, place(0), 8);
    host.time(Op::Write, place(1), 8);
    let begin = host.now;
    while host.now.since(begin).as_ns() < 2 * MS {
        assert!(host.time(Op::Write, place(1), 8) < MS);
    }
    assert!(host.time(Op::Write, place(2), 8) > MS, "another sector has to wait");
}

#[test]
fn a_stream_of_small_writes_goes_as_fast_as_the_host_can_send_it() {
    for order in [Order::Fifo, Order::Satf, Order::Elevator] {
        let mut host = Host::new(hdd(cached(5, order)));
        let rate = stream_rate(&mut host, Op::Write, FILE_START, 8, 5_000) / 4_096;
        // 0.33 ms for the command, 0.03 ms and 14 us on the bus.
        assert_close("writes a second", rate, 2_676, 1);
        // Little data is left to write: no more than arrives during one rotation.
        assert!(host.time(Op::Flush, 0, 0) < 12 * MS);
    }
}

#[test]
fn what_goes_on_where_other_data_ends_takes_no_place() {
    for backwards in [false, true] {
        let mut host = Host::new(hdd(cached(2, Order::Fifo)));
        host.time(Op::Write, place(0), 8);
        for i in 0..10 {
            let i = if backwards { 10 - i } else { i };
            assert!(host.time(Op::Write, place(1) + i * 8, 8) < MS, "write {i}");
        }
        assert!(host.time(Op::Write, place(2), 8) > MS, "elsewhere there is no place");
    }
}

#[test]
fn neighbours_reach_the_medium_together_whatever_came_between_them() {
    let mut host = Host::new(hdd(cached(4, Order::Fifo)));
    host.time(Op::Write, place(0), 8);
    for i in 0..8 {
        host.time(Op::Write, place(1) + i * 8, 8);
        host.time(Op::Write, place(2) + i * 8, 8);
    }
    // The two ranges are two accesses, not sixteen with a seek of at least 1.2 ms each.
    assert!(host.time(Op::Flush, 0, 0) < 2 * 11 * MS);
}

#[test]
fn a_write_cache_takes_as_much_data_as_it_holds() {
    let mut params = cached(4, Order::Fifo);
    params.write_cache = params.write_cache.map(|cache| WriteCacheParams { kib: 256, ..cache });
    let mut host = Host::new(hdd(params));
    host.time(Op::Write, place(0), 8);
    for i in 0..3 {
        assert!(host.time(Op::Write, place(1) + i * 128, 128) < MS, "write {i} of 64 KiB fits");
    }
    assert!(host.time(Op::Write, place(1) + 3 * 128, 128) > MS, "and no more");
    host.time(Op::Flush, 0, 0);
    assert!(host.time(Op::Write, place(2), 1_024) < 3 * MS, "what is larger passes through it");
}

#[test]
fn a_stream_leaves_places_for_others() {
    let queue = queued(4, Order::Fifo).queue;
    let mut host = Host::new(hdd(HddParams { queue, ..cached(2, Order::Satf) }));
    // Three writes of the stream at any time, as fast as the cache accepts them, and one elsewhere.
    let mut next = FILE_START;
    let mut stream = |host: &mut Host| {
        next += 256;
        host.submit(Op::Write, next, 256);
    };
    (0..3).for_each(|_| stream(&mut host));
    for i in 0..20 {
        let elsewhere = RequestId(host.submit(Op::Write, place(i) + 10_000_000, 8));
        let (begin, mut waits) = (host.now, true);
        while waits {
            for done in host.wait() {
                match done.id == elsewhere {
                    true => waits = false,
                    false => stream(&mut host),
                }
            }
        }
        // The contents of the cache, 4 MiB, may go first.
        assert!(host.now.since(begin).as_ns() < 150 * MS, "write {i}");
    }
}

#[test]
fn a_flush_waits_for_the_medium_unless_it_is_ignored() {
    for (flush, waits) in [(FlushPolicy::Drain, true), (FlushPolicy::Ignore, false)] {
        let mut params = cached(4, Order::Satf);
        params.write_cache = params.write_cache.map(|cache| WriteCacheParams { flush, ..cache });
        let mut host = Host::new(hdd(params));
        (0..4).for_each(|i| {
            host.time(Op::Write, place(i), 8);
        });
        assert_eq!(host.time(Op::Flush, 0, 0) > 4 * MS, waits);
        assert!(host.time(Op::Flush, 0, 0) < MS, "nothing is left to wait for");
    }
}

#[test]
fn forced_unit_access_goes_past_the_cache() {
    let mut host = Host::new(hdd(cached(4, Order::Satf)));
    host.device.submit(host.now, &DeviceIo { fua: true, ..io(0, Op::Write, FILE_START, 8) });
    assert_eq!(host.wait(), [Done { id: RequestId(0), ok: true }]);
    assert!(host.now.as_ns() > 2 * MS, "on the medium");
    assert!(host.time(Op::Flush, 0, 0) < MS, "and nowhere else");
}

#[test]
fn a_stream_of_cached_writes_reaches_the_rate_of_the_medium() {
    let rate = stream_rate(&mut Host::new(hdd(cached(4, Order::Satf))), Op::Write, 0, 256, 5_000);
    assert_close("outer zone", rate, 1_020 * 512 * 1_000 / 8_333 * 1_000, 3);
}

/// Random reads per second over the whole disk, with `depth` always outstanding.
fn queued_rate(depth: u32, order: Order) -> u64 {
    let (mut host, mut prng) = (Host::new(hdd(queued(depth, order))), Prng::new(11));
    let blocks = host.device.capacity_sectors() / 8;
    for _ in 0..depth {
        host.submit(Op::Read, prng.below(blocks) * 8, 8);
    }
    let mut completed = 0;
    while completed < 3_000 {
        for _ in host.wait() {
            completed += 1;
            host.submit(Op::Read, prng.below(blocks) * 8, 8);
        }
    }
    completed * 1_000_000_000 / host.now.as_ns()
}

#[test]
fn a_queue_pays_when_it_may_reorder() {
    let alone = queued_rate(1, Order::Fifo);
    let fifo = queued_rate(32, Order::Fifo);
    let elevator = queued_rate(32, Order::Elevator);
    let satf = queued_rate(32, Order::Satf);
    assert_close("a queue in order saves the overheads only", fifo, alone, 5);
    assert!(fifo < elevator && elevator < satf, "{fifo}, {elevator}, {satf}");
    assert!(satf > 2 * fifo, "{satf} against {fifo}");
}

/// How long a distant read takes, in ms, beside seven others that are always near the last one;
/// `None` if it has not completed after a minute.
fn far_read_ms(order: Order, age_limit_ms: Option<u32>) -> Option<u64> {
    let queue = QueueParams { age_limit_ms, ..queued(8, order).queue };
    let mut host = Host::new(hdd(HddParams { queue, ..wd2500js() }));
    let mut prng = Prng::new(7);
    let mut near = |host: &mut Host| host.submit(Op::Read, prng.below(1 << 14) * 8, 8);
    (0..7).for_each(|_| _ = near(&mut host));
    let far = RequestId(host.submit(Op::Read, 450_000_000, 8));
    while host.now.as_ns() < 60_000 * MS {
        for done in host.wait() {
            if done.id == far {
                return Some(host.now.as_ns() / MS);
            }
            near(&mut host);
        }
    }
    None
}

#[test]
fn a_command_is_passed_over_until_its_age_is_at_the_limit() {
    assert_eq!(far_read_ms(Order::Satf, None), None, "near ones always come");
    for limit_ms in [100, 2_400] {
        let took = far_read_ms(Order::Satf, Some(limit_ms)).expect("there is a limit");
        // The arm's work at the time of the limit, and the read's own seek and rotation.
        assert!((u64::from(limit_ms)..u64::from(limit_ms) + 60).contains(&took), "{took} ms");
    }
    let in_order = far_read_ms(Order::Fifo, None).expect("seven are before it");
    assert_eq!(far_read_ms(Order::Fifo, Some(2_400)), Some(in_order), "nobody is put before it");
}

#[test]
fn the_phase_decides_the_first_rotation() {
    let first = |phase_ns| {
        let spec = DeviceSpec::Hdd(HddSpec::new(wd2500js()).unwrap());
        Host::new(spec.build_at_phase(phase_ns)).time(Op::Read, 0, 8)
    };
    let at_zero = first(0);
    assert_eq!(first(8_333_333), at_zero, "a whole rotation changes nothing");
    assert_eq!(first(1_000_000), at_zero - 1_000_000, "the sector comes earlier");
}

#[test]
fn parameters_that_describe_no_disk_are_refused() {
    let refused = |params: HddParams| HddSpec::new(params).unwrap_err().to_string();
    assert_eq!(refused(HddParams { heads: 0, ..wd2500js() }), "`heads` is 0; allowed: 1 to 255");
    assert_eq!(
        refused(HddParams { sectors_per_track_outer: 500, ..wd2500js() }),
        "`sectors_per_track_outer` is 500; allowed: 600 to 65536"
    );
    let seek =
        fairdisk_sim::device::SeekParams::Lee { min_us: 1_200, average_us: 5_000, max_us: 20_000 };
    assert_eq!(
        refused(HddParams { seek, ..wd2500js() }),
        "`seek.average_us` is 5000; allowed: 7467 to 11226"
    );
    assert_eq!(refused(cached(0, Order::Fifo)), "`write_cache.depth` is 0; allowed: 1 to 1024");
    let mut none = cached(1, Order::Fifo);
    none.write_cache = none.write_cache.map(|cache| WriteCacheParams { kib: 0, ..cache });
    assert_eq!(refused(none), "`write_cache.kib` is 0; allowed: 1 to 1048576");
}
