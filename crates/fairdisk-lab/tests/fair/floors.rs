//! Floors of tasks with few requests in flight, on disks that take several at once.

use super::{Options, rate, run_in, run_seed};
use fairdisk_core::Span;
use std::ops::Range;

/// In how many seconds of these runs the first group was below its floor, and how many there were.
fn missed(device: &str, row: &str, options: Options, seeds: Range<u32>) -> (u32, u32) {
    let kept = seeds.map(|seed| {
        let result = run_seed("floors.toml", device, "fair", row, options.clone(), seed);
        result.expect("it can be kept").groups[0].kept.expect("it has a floor")
    });
    let (below, seconds) =
        kept.fold((0, 0), |(below, seconds), kept| (below + kept.below, seconds + kept.seconds));
    println!("{device}, {row}: below in {below} of {seconds} s");
    (below, seconds)
}

/// A request that goes first still waited at the disk for what others had there. On `hdd-ncq` two
/// readers beside streams had 1 I/O a second of 40, and one beside large reads 9 of 30; on
/// `raid5-4` 4 of 30, and two writers 20 of 40; on `sata-ssd` 31 of 4000. Beside readers with 64
/// requests, a thinker on `hdd-ncq` still misses a second of a hundred.
#[test]
fn a_floor_is_kept_at_the_disk_too() {
    let rows = [
        "readers beside streams",
        "reader beside readers",
        "reader beside large reads",
        "readers beside buffered writers",
        "writer that flushes",
        "large reads beside readers",
        "thinker beside readers",
        "writers beside writers",
        "around readers",
    ];
    let flash = [
        "readers beside streams, flash",
        "reader beside readers, flash",
        "reader beside large reads, flash",
        "readers beside buffered writers, flash",
    ];
    for (device, rows) in [("hdd-ncq", &rows[..]), ("raid5-4", &rows), ("sata-ssd", &flash)] {
        for row in rows {
            let (below, seconds) = missed(device, row, Options::default(), 0..3);
            let allowed = u32::from(*row == "thinker beside readers");
            assert!(seconds > 0 && below <= allowed, "{device}, {row}: {below} of {seconds} s");
        }
    }
}

/// Requests that stay at the disk for different times are done unevenly, however evenly they go
/// there. One of 50 to 80 seconds was below the floor.
#[test]
fn a_floor_is_kept_however_the_disk_delays_requests() {
    let rows = [
        "deep readers beside readers",
        "deep readers beside writers",
        "deep readers around readers",
    ];
    for row in rows {
        let options = Options { duration: Some(Span::from_s(31)), ..Options::default() };
        let (below, seconds) = missed("raid5-4", row, options, 0..20);
        assert!(seconds == 600 && below <= 1, "{row}: {below} of {seconds} s");
    }
}

/// It thinks for most of the time, so no second of it is judged. It had 30 of 500 I/Os a second.
#[test]
fn a_floor_of_a_task_that_thinks_is_kept_on_flash() {
    let row = "thinker beside large reads, flash";
    let result = run_in("floors.toml", "sata-ssd", "fair", row, Options::default());
    let rate = rate(&result.expect("it can be kept"), 0);
    assert!(rate >= 500.0, "{rate:.1} a second");
}

/// One request at a time cannot be as fast. Room for it all the time would cost the others most
/// of what they do.
#[test]
fn a_floor_that_cannot_be_used_costs_the_others_little() {
    let row = "not usable, flash";
    let done = |arm| {
        let result = run_in("floors.toml", "sata-ssd", arm, row, Options::default());
        result.expect("it runs").groups[1].ios as f64
    };
    let part = done("fair") / done("noop");
    println!("{part:.2} of noop");
    assert!(part >= 0.6, "{part:.2} of noop");
}
