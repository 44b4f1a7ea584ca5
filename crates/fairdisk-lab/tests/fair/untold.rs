//! Disks whose costs are not told, as under most mounts.

use super::*;

fn pair(device: &str, row: &str) -> (f64, f64) {
    let untold = Override::parse("host.queue.tells_costs=false").expect("it is one");
    let options = Options { overrides: vec![untold], ..Options::default() };
    let result = run_in("untold.toml", device, "fair", row, options).expect("it runs");
    let share = shares(&result)[0];
    let all = rate(&result, 0) + rate(&result, 1);
    println!("{device}, {row}: {share:.1} %, {all:.0} I/Os a second");
    (share, all)
}

/// With as many requests in flight, a disk that takes all of them at once gives halves. With eight,
/// a limit to those of the other gives the disk more to do than turns, and nearly as much to it.
#[test]
fn a_heavy_group_with_few_requests_in_flight_has_its_share() {
    for (row, least) in [("7:1, 8 in flight each", 75.0), ("7:1, 16 in flight each", 84.0)] {
        let (share, _) = pair("sata-ssd", row);
        assert!(share >= least, "{row}: {share:.1} of 87.5 %");
    }
}

/// In turns the disk would do two thirds.
#[test]
fn groups_that_have_their_shares_together_are_not_served_in_turns() {
    for (device, least) in [("sata-ssd", 95_000.0), ("nvme", 170_000.0)] {
        let (share, all) = pair(device, "8 in flight each");
        assert!((share - 50.0).abs() < 1.0, "{share:.1}");
        assert!(all > least, "{device}: {all:.0} I/Os a second");
    }
}

/// Nobody says that a request of 128 KiB costs thirty times as much. Together small ones have 4 %.
#[test]
fn small_requests_have_half_of_a_disk_beside_large_ones() {
    let (share, _) = pair("sata-ssd", "4 beside 128 KiB");
    assert!((share - 50.0).abs() <= 3.0, "{share:.1} of 50 %");
}
