//! Streams on disks with one head, beside what CFQ does in the same run: several streams, alone and
//! beside others, and threads that read one file. `fair` has at least nine tenths of the best.

use super::*;

const DEVICES: [&str; 4] = ["hdd-7200-2007", "wd2500js", "hdd-ncq", "cheetah-15k5"];

/// Demands this part of the throughput of the better CFQ in each of the rows, with costs told and
/// not told.
fn demand_of_cfq(devices: &[&str], rows: &[&str], least: f64) {
    for device in devices {
        for set in ["true", "false"] {
            let told = format!("host.queue.tells_costs={set}");
            for row in rows {
                let bytes = |arm| {
                    let overrides = vec![Override::parse(&told).expect("it is one")];
                    let options = Options { overrides, ..Options::default() };
                    let result = run_in("many-streams.toml", device, arm, row, options);
                    result.expect("it runs").groups.iter().map(|group| group.bytes).sum::<u64>()
                };
                let cfq = ["cfq-2.6.34", "two-layer-cfq"].map(bytes).into_iter().max();
                let part = bytes("fair") as f64 / cfq.expect("there are two") as f64;
                println!("{device}, {told}, {row}: {part:.2} of CFQ");
                assert!(part >= least, "{device}, {told}, {row}: {part:.2} of CFQ");
            }
        }
    }
}
