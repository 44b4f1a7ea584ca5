//! Commits beside others that write: a flush waits for everything that the device has acknowledged.

use super::*;

/// A log, of which each write or each eighth is made durable, beside a dump with an eighth of its
/// weight. By itself the log takes a few percent of a flash disk. With all that the dump can write
/// in the disk's cache it had 0.03 to 0.8 of what it does alone, and fsync took up to 70 ms.
#[test]
fn a_log_on_flash_waits_for_little_of_what_a_dump_has_written() {
    let sizes = ["4 KiB", "16 KiB"];
    let hows = ["each", "each eighth", "each, with reads", "each eighth, with reads"];
    for device in ["nvme", "sata-ssd"] {
        let dump = |arm: &str, row: &str| {
            let result = run_in("log-beside-dump.toml", device, arm, row, Options::default());
            let result = result.expect("it runs");
            let [log, dump] = [0, 1].map(|group| result.groups[group].bytes);
            let flush = result.groups[0].flush.latency().expect("it commits");
            (log, dump, flush.quantile(990))
        };
        let rows = sizes.into_iter().flat_map(|size| hows.map(|how| format!("{size}, {how}")));
        // The flushes of several tasks overlap all the time.
        for row in rows.chain(["4 tasks".to_owned()]) {
            let (alone, _, usual) = dump("fair", &format!("{row}, alone"));
            let (beside, dumped, p99) = dump("fair", &row);
            let (_, most, _) = dump("noop", &row);
            let part = |one: u64, of: u64| one as f64 / of as f64;
            let (kept, left) = (part(beside, alone), part(dumped, most));
            let longer = p99.as_ns() as f64 / usual.as_ns() as f64;
            println!(
                "{device}, {row}: {kept:.2} of alone, fsync {longer:.1} times, dump {left:.2}"
            );
            assert!(kept >= 0.8, "{device}, {row}: {kept:.2} of what it does alone");
            assert!(longer <= 5.0, "{device}, {row}: fsync takes {longer:.1} times as long");
            // Two thirds of its share.
            assert!(left >= 0.07, "{device}, {row}: the dump has {left:.2}");
        }
    }
}
