//! What a latency target is worth to a group that wants more than its share: no more of the disk,
//! and on a disk that serves one request after the other the same in smaller portions.

use super::{Options, run_in, shares};

/// Where a group with a target was alone in line because the others had their requests at the disk
/// or waited for the write pace, it had 87 % where 17 are asked for on `hdd-ncq`, 86 beside four
/// readers on `raid5-4`, and 52 instead of 1 beside writers on `sata-ssd`.
#[test]
fn a_target_does_not_add_to_a_share() {
    for (device, row, asked, within) in [
        ("hdd-ncq", "one reader", 16.7, 1.0),
        ("hdd-ncq", "four readers", 16.7, 1.0),
        ("hdd-ncq", "light", 0.1, 1.0),
        ("hdd-7200-2007", "one reader", 16.7, 1.0),
        // The array is not kept busy by the other group alone.
        ("raid5-4", "four readers", 16.7, 3.0),
        ("sata-ssd", "writers", 2.0, 1.0),
        ("sata-ssd", "writers, nested", 2.0, 1.0),
    ] {
        let result = run_in("targets.toml", device, "fair", row, Options::default());
        let shares = shares(&result.expect("it runs"));
        println!("{device}, {row}: {shares:.1?}");
        assert!((shares[0] - asked).abs() <= within, "{device}, {row}: {shares:.1?}");
    }
}

/// With turns of half of `round_ms` 99 % of the reads took up to 120 ms beside streams, 74 beside
/// reads and 59 beside tasks that `fsync`.
#[test]
fn who_has_more_to_do_than_its_share_has_it_in_time() {
    for device in ["hdd-7200-2007", "wd2500js"] {
        for (row, within) in [("reads", 1.0), ("streams", 1.0), ("fsync", 1.0), ("a stream", 1.0)] {
            let result = run_in("in-time.toml", device, "fair", row, Options::default());
            let result = result.expect("it runs");
            let p99 = result.groups[0].latency.quantile(990);
            let shares = shares(&result);
            println!("{device}, {row}: {p99}, {shares:.1?}");
            assert!(p99.as_ms() < 50, "{device}, {row}: {p99}");
            assert!((shares[0] - 50.0).abs() <= within, "{device}, {row}: {shares:.1?}");
        }
    }
}
