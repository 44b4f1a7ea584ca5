//! Tasks inside a group on devices that take several commands: what priorities are worth, and what
//! a stream leaves to others.

use super::{Options, run_in};

/// The I/Os a second of each line of the report on tasks.
fn rates(device: &str, row: &str) -> Vec<f64> {
    let result = run_in("ionice.toml", device, "fair", row, Options::default());
    let result = result.expect("it runs");
    let seconds = result.elapsed.as_ns() as f64 / 1e9;
    let rates: Vec<f64> = result.tasks.iter().map(|task| task.ios as f64 / seconds).collect();
    println!("{device}, {row}: {rates:.0?}");
    rates
}

/// When only queued requests were put in order, the first three had 0.22, 0.22 and 0.005 of what
/// they do alone on `hdd-ncq`, 0.11, 0.11 and 0.03 on `raid5-4`, and 0.33, 0.33 and 0.22 on
/// `sata-ssd`. On the last two the others may have what one request leaves unused.
#[test]
fn who_has_a_better_class_is_not_held_up_by_others() {
    for (device, least) in [("hdd-ncq", 0.95), ("raid5-4", 0.5), ("sata-ssd", 0.7)] {
        let alone = rates(device, "one alone")[0];
        for row in ["real-time beside 32", "one beside 32 idle"] {
            let part = rates(device, row)[0] / alone;
            assert!(part >= least, "{device}, {row}: {part:.2}");
        }
    }
    for (device, least) in [("hdd-ncq", 0.95), ("raid5-4", 0.95), ("sata-ssd", 0.3)] {
        let part = rates(device, "real-time beside a stream")[0] / rates(device, "one alone")[0];
        assert!(part >= least, "{device}: {part:.2}");
    }
}

/// Level 4 is worth twice level 6. It had 0.8 times as much everywhere, as it asks for half.
#[test]
fn levels_share_by_their_weights() {
    for (device, within) in [("hdd-ncq", 0.2), ("raid5-4", 0.2), ("sata-ssd", 0.1)] {
        let rates = rates(device, "levels 4 and 6");
        let ratio = rates[0] / rates[1];
        assert!((ratio - 2.0).abs() <= within, "{device}: {ratio:.2}");
    }
}

/// All have the same priority, so the eight are entitled to eight ninths of the time and the stream
/// to one. The eight had 0.01 and 0.07 of what they do alone.
#[test]
fn a_stream_leaves_the_others_of_its_group_their_part() {
    for device in ["hdd-ncq", "raid5-4"] {
        let both = rates(device, "a stream beside 8");
        let part = both[1] / rates(device, "8 alone")[0];
        assert!((0.75..0.95).contains(&part), "{device}: the eight have {part:.2}");
        let part = both[0] / rates(device, "a stream alone")[0];
        assert!((0.08..0.2).contains(&part), "{device}: the stream has {part:.2}");
    }
}
