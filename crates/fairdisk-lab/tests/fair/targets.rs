//! What a latency target is worth to a group that wants more than its share: nothing.

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
